"""Puts a worker's adapters, settings and runtime together, and runs it until it is told to stop."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from enum import IntEnum
from types import FrameType

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.peer_transactions import KafkaPeerTransactions
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.tentative_publisher import KafkaTentativePublisher
from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.onnx.child_engine import ChildEngine
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.checks.kafka import denied
from caesura.worker.core.language.dictionary import load_dictionary
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.errors import BrokerError, CaesuraError, FatalError, FencedError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.session_store import SessionStore
from caesura.worker.ports.tracer import Tracer
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings, Traces
from caesura.worker.runtime.settings.untraced import Untraced
from caesura.worker.settings.tree import Settings, models_folder
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.http_server import TelemetryServer
from caesura.worker.telemetry.log import Log, failure_fields, forward_library_logs, log_uncaught, make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver

_MOST_ASKED_MS = 10_000


class ExitStatus(IntEnum):
    """What the worker's process ends with: what a supervisor may go by; docs/operations.md says what each means."""

    STOPPED = 0
    FATAL = 1
    FENCED = 3


class StopSignals:
    """SIGTERM and SIGINT ask the loop to drain and stop; a second one ends the process at once."""

    def __init__(self) -> None:
        self._stopping = threading.Event()

    @contextmanager
    def caught(self) -> Iterator[StopSignals]:
        """Catch the signals inside; main thread only."""
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def stopping(self) -> bool:
        """Tell whether a stop was asked for."""
        return self._stopping.is_set()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._stopping.is_set():
            os._exit(128 + number)
        self._stopping.set()


def run_worker(settings: Settings) -> int:
    """Run a worker until it is told to stop; return the exit status. Logs go to stdout, one JSON object a line."""
    runtime = settings.worker
    log = make_log(sys.stdout, deployment=runtime.deployment, worker=runtime.transactional_id)
    forward_library_logs(log)
    log_uncaught(log)
    clock = SystemClock()
    metrics = Metrics()
    health = health_of(settings, clock)
    with ExitStack() as stack:
        if runtime.http_port:
            server = TelemetryServer(runtime.http_host, runtime.http_port, registry=metrics.registry, health=health)
            server.start()
            stack.callback(server.close)
        stop = stack.enter_context(StopSignals().caught())
        observer = TelemetryObserver(log=log, metrics=metrics, health=health)
        try:
            tracer = stack.enter_context(opened_tracer(runtime))
            worker = build_worker(
                settings, clock=clock, observer=observer, log=log, tracer=tracer, on_progress=health.went_on
            )
            health.started()  # the next steps wait for brokers, and a restart would not help
            refuse_denied(settings)
            gc.collect()
            gc.freeze()  # objects of the start-up live to the end, so no collection needs to visit them
            log.info("started")
            worker.run(stop.stopping)
        except CaesuraError as error:
            _say_why(log, error)
            return ExitStatus.FENCED if isinstance(error, FencedError) else ExitStatus.FATAL
    log.info("stopped")
    return ExitStatus.STOPPED


def health_of(settings: Settings, clock: Clock) -> Health:
    """Return the health of a worker that is about to start. It allows the waits that the settings allow.

    A round of the loop may take ``kafka.max_poll_interval_ms``: afterwards the group gives its partitions away.
    """
    most_s = settings.kafka.max_poll_interval_ms / 1000.0
    return Health(clock.monotonic_s, max_still_s=settings.max_still_s, max_turn_s=most_s)


def build_worker(  # noqa: PLR0913 - its parts, of which the demo has others
    settings: Settings,
    *,
    clock: Clock,
    observer: Observer,
    log: Log,
    publisher_of: Callable[[Settings, KafkaWordSource], Publisher] | None = None,
    store: SessionStore | None = None,
    tracer: Tracer | None = None,
    on_progress: Callable[[], None] = lambda: None,
) -> Worker:
    """Build a worker from settings, with a warm engine. FatalError if models or settings cannot be used.

    publisher_of, store: replace the transactional publisher and Redis in the demo, whose cluster has no transactions
    and whose machine may have no Redis. on_progress: called while a long inference advances.
    """
    runtime = settings.worker
    load_dictionary()  # a missing dictionary must end the worker now
    engine = warm_engine(runtime, on_progress)
    log_accuracy_warnings(engine.doubts, log)
    source = KafkaWordSource(settings.kafka, runtime.input_topic, runtime.claims)
    parts = RuntimeAdapters(
        source=source,
        publisher=(publisher_of or _transactional)(settings, source),
        store=store or RedisSessionStore(settings.redis, deployment=runtime.deployment, topic=runtime.input_topic),
        reader=KafkaLogReader(settings.kafka),
        peers=KafkaPeerTransactions(settings.kafka, runtime.input_topic),
        engine=engine,
        clock=clock,
        observer=observer,
        tentative=_tentative(settings),
        tracer=tracer or Untraced(),
        saving=ThreadPoolExecutor(max_workers=2, thread_name_prefix="saving"),
        asking=ThreadPoolExecutor(max_workers=3, thread_name_prefix="asking"),
    )
    return Worker(parts, runtime, rules=settings.decoding, segmenters=segmenters)


def warm_engine(runtime: RuntimeSettings, on_progress: Callable[[], None] = lambda: None) -> ChildEngine:
    """Return the engine of the settings, in its own process; each model has run once. FatalError.

    on_progress: called while a long inference, or a restart of the process, advances.
    """
    return ChildEngine(
        models_folder(runtime),
        active=runtime.active_models,
        max_kept_bytes=runtime.engine_memory_mib * 2**20,
        limit_bytes=runtime.engine_limit_mib * 2**20,
        deadline_s=runtime.inference_deadline_ms / 1000.0,
        on_progress=on_progress,
    )


def log_accuracy_warnings(doubts: Mapping[str, str], log: Log) -> None:
    """Log why each of these models gives wrong labels on this processor."""
    for model, doubt in doubts.items():
        log.warning("model_accuracy_warning", model=model, detail=doubt)


@contextmanager
def opened_tracer(runtime: RuntimeSettings) -> Iterator[Tracer]:
    """Open the tracer of ``worker.traces``. Only this imports OpenTelemetry. FatalError if it is missing."""
    if runtime.traces is Traces.NONE:
        yield Untraced()
        return
    try:
        from caesura.worker.telemetry.traces import SegmentTracer, otlp_processor  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise FatalError(f"worker.traces needs the extra traces: no module {error.name}") from error
    tracer = SegmentTracer(
        otlp_processor(), topic=runtime.input_topic, group=runtime.group, instance=runtime.transactional_id
    )
    try:
        yield tracer
    finally:
        tracer.close()


def _transactional(settings: Settings, source: KafkaWordSource) -> Publisher:
    worker = settings.worker
    needed = worker.output_topics - {worker.tentative_topic} | {
        worker.claims
    }  # the protocol does not depend on unfrozen words
    return KafkaPublisher(settings.kafka, worker.transactional_id, source.topic, outputs=needed)


def _tentative(settings: Settings) -> KafkaTentativePublisher | None:
    topic = settings.worker.tentative_topic
    return KafkaTentativePublisher(settings.kafka, topic) if topic else None


def refuse_denied(settings: Settings) -> None:
    """Raise FatalError if Kafka's ACLs deny the worker a topic. Topics without an answer are not checked.

    Otherwise the worker would claim partitions that it cannot serve. This waits 10 s at most for brokers, whatever
    kafka.request_timeout_ms says: afterwards the loop waits, and shows meanwhile that it is alive.
    """
    kafka = replace(settings.kafka, request_timeout_ms=min(settings.kafka.request_timeout_ms, _MOST_ASKED_MS))
    reads, writes = settings.worker.read_topics, settings.worker.output_topics
    with suppress(BrokerError):
        found = denied(KafkaTopics(kafka).forbidden(sorted(reads | writes)), reads=reads, writes=writes)
        if told := "; ".join(f"{finding.subject}: {finding.reason}" for finding in found):
            raise FatalError(told)


def _say_why(log: Log, error: CaesuraError) -> None:
    log.error("failed", **failure_fields(error))
