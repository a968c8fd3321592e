"""The demo's Kafka, Redis and worker: started here, and ended with the block, whatever happens."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from typing_extensions import override

from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.app import build_worker
from caesura.worker.demo.script import TARGET
from caesura.worker.embedded.embedded_redis import EmbeddedRedis, find_redis_server
from caesura.worker.embedded.mock_cluster import PlainPublisher, mock_cluster
from caesura.worker.errors import FatalError
from caesura.worker.ports.observer import Event, ReadinessReported, SilentObserver
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.session_store import SessionStore
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.settings.tree import Settings, SettingSources, load_settings
from caesura.worker.telemetry.log import make_log

_STOP_WITHIN_S = 15.0


class Cast:
    """The running parts. ``parts`` names them for people."""

    def __init__(self, settings: Settings, parts: str) -> None:
        self.settings = settings
        self.parts = parts
        self.joined = threading.Event()
        self._lock = threading.Lock()
        self._fault: Exception | None = None
        self._stop: Callable[[], None] = lambda: None

    def check(self) -> None:
        """Raise what ended the worker, or another part, if anything did."""
        if self._fault is not None:
            raise self._fault

    def fail(self, error: Exception) -> None:
        """Say what ended a part, from any thread; of several faults the first one counts."""
        with self._lock:
            self._fault = self._fault or error
            stop = self._stop
        stop()

    def stop_on_fault(self, stop: Callable[[], None]) -> None:
        """Have ``stop`` called once a part has failed, from any thread; at once where one has failed before."""
        with self._lock:
            self._stop = stop
            failed = self._fault is not None
        if failed:
            stop()


class _Observer(SilentObserver):
    """Hears when the worker holds all partitions."""

    def __init__(self, joined: threading.Event) -> None:
        self._joined = joined

    @override
    def note(self, event: Event) -> None:
        """Note that there is no reason left."""
        if isinstance(event, ReadinessReported) and not event.reasons:
            self._joined.set()


@contextmanager
def embedded_parts() -> Iterator[Cast]:
    """Start a mock Kafka, a Redis and a worker; end them all at the end of the block."""
    with ExitStack() as stack:
        flags = {
            "worker.deployment": "demo",
            "worker.http_port": "0",
            "worker.routes": f"{TARGET}=translate.{TARGET}",
            "kafka.bootstrap_servers": "unknown",
            "decoding.probabilities": "words",
        }
        names = load_settings(SettingSources(environ={}, flags=flags)).worker
        topics = [names.input_topic, names.segment_topic, names.dead_letter_topic, names.ledger, names.claims]
        topics += [route.topic for route in names.routes]
        flags["kafka.bootstrap_servers"] = stack.enter_context(mock_cluster(topics))
        store: SessionStore | None = None
        redis = "a dictionary in place of Redis, for want of a redis-server"
        if find_redis_server() is not None:
            server = stack.enter_context(EmbeddedRedis(unix_socket=True))
            flags["redis.addresses"] = server.url.replace("unix://", "unix:")
            redis = "a real redis-server"
        else:
            store = MemorySessionStore(MemoryRedis())
        settings = load_settings(SettingSources(environ={}, flags=flags))
        cast = Cast(settings, f"Kafka: librdkafka's mock cluster · {redis} · one worker, its model on this CPU")
        stack.enter_context(_running(cast, store))
        yield cast


@contextmanager
def _running(cast: Cast, store: SessionStore | None) -> Iterator[None]:
    worker = build_worker(
        cast.settings,
        clock=SystemClock(),
        observer=_Observer(cast.joined),
        log=make_log(io.StringIO()),
        publisher_of=_plain,
        store=store,
    )
    stopping = threading.Event()
    thread = threading.Thread(target=_run, args=(worker, stopping, cast), name="demo-worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(_STOP_WITHIN_S)
        if thread.is_alive():
            raise FatalError("the demo's worker did not stop")


def _run(worker: Worker, stopping: threading.Event, cast: Cast) -> None:
    try:
        worker.run(stopping.is_set)
    except Exception as error:  # noqa: BLE001 - whatever ends this thread is raised again by ``Cast.check``
        cast.fail(error)


def _plain(settings: Settings, source: KafkaWordSource) -> Publisher:
    return PlainPublisher(settings.kafka, settings.worker.transactional_id, source)
