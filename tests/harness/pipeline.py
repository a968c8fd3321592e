"""What a worker on real parts is built from, as plain values that another process can be given."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.peer_transactions import KafkaPeerTransactions
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.onnx.child_engine import ChildEngine
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.ports.commit_steps import CheckpointTaken, CommitStep, CommitStepReached, ProducerRebuilt
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import (
    ClaimWaits,
    Event,
    Observer,
    PartitionClaimed,
    PartitionParked,
    ReadinessReported,
    Rebalanced,
    SilentObserver,
)
from caesura.worker.ports.publisher import Publisher
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import Route, RuntimeSettings
from tests.harness.deadly_process import PROGRAM
from tests.harness.shipped_models import ENGLISH, one_model


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """One worker. kill_at, kill_after: the protocol's step at which it kills itself, and how often it passes it before.

    kill_with: the signal; SIGSTOP makes a zombie of it. kill_once: a file; before it exists nothing is counted.
    engine: ``scripted``, ``shipped`` for the English model, or ``deadly``, which kills its process over a word.
    """

    bootstrap: str
    redis_url: str
    deployment: str
    ordinal: int = 0
    group_protocol: str = "classic"
    engine: str = "scripted"
    kill_at: str | None = None
    kill_after: int = 0
    kill_with: int = int(signal.SIGKILL)
    kill_once: str | None = None
    changes: dict[str, object] = field(default_factory=dict)
    kafka_changes: dict[str, object] = field(default_factory=dict)
    rules: dict[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    def replaced(self, **changes: object) -> Self:
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def kafka_settings(self) -> KafkaSettings:
        fields: dict[str, object] = {
            "bootstrap_servers": self.bootstrap,
            "group_id": self.deployment,
            "client_id": f"{self.deployment}-{self.ordinal}",
            "group_protocol": self.group_protocol,
            "session_timeout_ms": 3_000,
            "heartbeat_interval_ms": 500,
            "max_poll_interval_ms": 10_000,
            "transaction_timeout_ms": 5_000,
            **self.kafka_changes,
        }
        return KafkaSettings(**fields)  # type: ignore[arg-type]

    def settings(self) -> RuntimeSettings:
        fields: dict[str, object] = {
            "deployment": self.deployment,
            "ordinal": self.ordinal,
            "input_topic": f"{self.deployment}.words",
            "segment_topic": f"{self.deployment}.segments",
            "dead_letter_topic": f"{self.deployment}.dead",
            "routes": (Route(target="de", topic=f"{self.deployment}.de"),),
            "claim_timeout_s": 0.5,
            **self.changes,
        }
        return RuntimeSettings(**fields)  # type: ignore[arg-type]


class Telling(SilentObserver):
    """Tells standard error what a test that failed wants to know of another process."""

    def __init__(self) -> None:
        self._unready: Sequence[str] | None = None

    def note(self, event: Event) -> None:
        match event:
            case CheckpointTaken():
                self._say("checkpoint", event.outcome, f"{event.words} words", dict(event.dropped))
            case Rebalanced() | PartitionClaimed() | ClaimWaits() | PartitionParked() | ProducerRebuilt():
                self._say(event)
            case ReadinessReported() if event.reasons != self._unready:
                self._unready = event.reasons
                self._say("unready", event.reasons)
            case _:
                pass

    @staticmethod
    def _say(*said: object) -> None:
        sys.stderr.write(f"[{os.getpid()} {time.monotonic():.2f}] {' '.join(map(str, said))}\n")
        sys.stderr.flush()


class Killer(Telling):
    """Sends this process a signal at a commit step. After SIGKILL no handler runs and the group is not left."""

    def __init__(self, step: CommitStep, passes: int, *, number: int, once: Path | None) -> None:
        super().__init__()
        self._step = step
        self._passes = passes
        self._number = number
        self._once = once

    def note(self, event: Event) -> None:
        super().note(event)
        if not isinstance(event, CommitStepReached) or event.step is not self._step:
            return
        if self._once is not None and not self._once.exists():
            return
        if self._passes == 0:
            self._say("signal", self._number, "at", event.step)
            os.kill(os.getpid(), self._number)
        self._passes -= 1


def build(
    pipeline: Pipeline,
    observer: Observer | None = None,
    *,
    engine: Engine | None = None,
    around: Callable[[Publisher], Publisher] = lambda publisher: publisher,
) -> tuple[RuntimeAdapters, Worker]:
    """Build a worker and its parts, something perhaps around its publisher; the worker is not started."""
    settings = pipeline.settings()
    kafka = pipeline.kafka_settings()
    clock = SystemClock()
    parts = RuntimeAdapters(
        source=KafkaWordSource(kafka, settings.input_topic, settings.claims),
        publisher=around(KafkaPublisher(kafka, settings.transactional_id, settings.input_topic)),
        store=RedisSessionStore(
            RedisSettings.from_url(pipeline.redis_url), deployment=pipeline.deployment, topic=settings.input_topic
        ),
        reader=KafkaLogReader(kafka),
        peers=KafkaPeerTransactions(kafka, settings.input_topic),
        engine=engine or _engine(pipeline.engine),
        clock=clock,
        observer=observer or _observer(pipeline),
        saving=ThreadPoolExecutor(max_workers=2, thread_name_prefix="saving"),
        asking=ThreadPoolExecutor(max_workers=3, thread_name_prefix="asking"),
    )
    rules = DecodingRules(**{"routes": frozenset({"de"}), **pipeline.rules})  # type: ignore[arg-type]
    return parts, Worker(parts, settings, rules=rules, segmenters=segmenters)


def _observer(pipeline: Pipeline) -> Observer:
    if pipeline.kill_at is None:
        return Telling()
    once = Path(pipeline.kill_once) if pipeline.kill_once is not None else None
    return Killer(CommitStep(pipeline.kill_at), pipeline.kill_after, number=pipeline.kill_with, once=once)


def _engine(name: str) -> Engine:
    if name == "scripted":
        return ScriptedEngine()
    if name == "deadly":
        return ChildEngine(Path(), max_kept_bytes=0, limit_bytes=0, deadline_s=5.0, max_deaths=10, run=PROGRAM)
    return OnnxEngine(one_model(ENGLISH))
