"""``python -m tests.chaos.member CONFIG``: a worker under chaos in a process of its own, with a diary on stdout.

CONFIG is JSON: ``pipeline`` and ``redis`` say what it is built from, ``models`` which versions its engine has loaded,
the active one first. Every event brings a trace context.

The diary is one JSON object a line: what the runner needs to know (which partitions it holds) and what whoever looks
for the cause of a violation wants to read.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from caesura.schemas.events import Emission
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.peer_transactions import KafkaPeerTransactions
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.core.language.dictionary import load_dictionary
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.errors import FencedError
from caesura.worker.ports.commit_steps import CheckpointTaken, ProducerRebuilt
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import (
    CallFailed,
    ClaimWaits,
    EngineFailed,
    Event,
    PartitionClaimed,
    PartitionParked,
    PartitionRebuilt,
    ReadinessReported,
    Rebalanced,
    SilentObserver,
    TookOver,
)
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from tests.chaos.changes import FIRST_VERSION
from tests.chaos.engine_process import started_engine
from tests.chaos.poison import PoisonedPublisher
from tests.harness.contexts import ContextsOnly
from tests.harness.pipeline import Pipeline

FENCED = 4
"""Exit status of a member that found a newer one in its place: it stops without another write, and is started anew.

A static member does so where the answer to its join was lost: it joins again, and its first join fences it.
"""


class Diary(SilentObserver):
    """Writes down what happened, never what was said."""

    def __init__(self) -> None:
        self._reasons: Sequence[str] = ()

    def note(self, event: Event) -> None:
        match event:
            case CheckpointTaken() if event.dropped:
                self._write("dropped", outcome=event.outcome, dropped=dict(event.dropped), step_ms=dict(event.step_ms))
            case PartitionRebuilt():
                summary = asdict(event.summary)
                self._write("rebuilt", partition=event.partition, **summary, took_s=round(event.took_s, 3))
            case ReadinessReported() if list(event.reasons) != list(self._reasons):
                self._reasons = list(event.reasons)
                self._write("readiness", reasons=self._reasons)
            case Rebalanced():
                self._write(event.kind, partitions=list(event.partitions))
            case _ if type(event) in _WRITTEN:
                self._write(_WRITTEN[type(event)], **asdict(event))  # type: ignore[call-overload]
            case _:
                pass

    def _write(self, what: str, **fields: object) -> None:
        sys.stdout.write(json.dumps({"at_s": round(time.monotonic(), 3), "what": what, **fields}) + "\n")
        sys.stdout.flush()


_WRITTEN: dict[type[Event], str] = {
    PartitionClaimed: "claimed",
    TookOver: "took_over",
    ClaimWaits: "waiting",
    PartitionParked: "parked",
    EngineFailed: "engine_failed",
    ProducerRebuilt: "publisher_rebuilt",
    CallFailed: "faulted",
}


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    work(config, started_engine(config.get("models", [FIRST_VERSION])))


def work(config: dict[str, dict[str, object]], engine: Engine) -> None:
    """Work as a member of the fleet until SIGTERM; main thread only."""
    diary = Diary()
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    diary._write("born", pid=os.getpid())  # whoever knows its number may end it from now on
    load_dictionary()  # as worker.app does
    pipeline = Pipeline(**config["pipeline"])  # type: ignore[arg-type]
    worker = _build(pipeline, config["redis"], engine, diary)
    try:
        worker.run(stopping.is_set)
    except FencedError as error:
        diary._write("fenced", error=str(error))
        sys.exit(FENCED)
    diary._write("ended")


def _build(pipeline: Pipeline, redis: dict[str, object], engine: Engine, diary: Diary) -> Worker:
    settings, kafka = pipeline.settings(), pipeline.kafka_settings()
    addresses = redis["addresses"]
    assert isinstance(addresses, list)
    store = RedisSettings(
        addresses=tuple(addresses),
        topology=RedisTopology(str(redis["topology"])),
        timeout_s=1.0,
        connect_timeout_s=0.5,
    )
    clock = SystemClock()
    parts = RuntimeAdapters(
        source=KafkaWordSource(kafka, settings.input_topic, settings.claims),
        publisher=PoisonedPublisher(kafka, settings.transactional_id, settings.input_topic),
        store=RedisSessionStore(store, deployment=pipeline.deployment, topic=settings.input_topic),
        reader=KafkaLogReader(kafka),
        peers=KafkaPeerTransactions(kafka, settings.input_topic),
        engine=engine,
        clock=clock,
        observer=diary,
        tracer=ContextsOnly(),
        saving=ThreadPoolExecutor(max_workers=2, thread_name_prefix="saving"),
        asking=ThreadPoolExecutor(max_workers=3, thread_name_prefix="asking"),
    )

    emission = Emission(str(pipeline.rules.get("emission", Emission.SENTENCE)))
    told = {"routes": frozenset({"de"}), **pipeline.rules, "emission": emission}
    rules = DecodingRules(**told)  # type: ignore[arg-type]
    return Worker(parts, settings, rules=rules, segmenters=segmenters)


if __name__ == "__main__":
    main()
