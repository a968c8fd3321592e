"""An observer of telemetry with its lines and metrics at hand, and events for it with a word that must not come out."""

from __future__ import annotations

import io
import json

from prometheus_client import CollectorRegistry

from caesura.schemas.segments import Cause, Segment, SegmentWord, Timing
from caesura.worker.ports.commit_steps import CheckpointTaken
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.reasons import CheckpointOutcome
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.log import make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver
from tests.harness.segments import a_segment

CANARY = "zwieselhausen"
COMMITTED = CheckpointTaken(
    outcome=CheckpointOutcome.COMMITTED,
    partitions=2,
    sessions=5,
    segments=3,
    words=20,
    dead_letters=0,
    step_ms={"stage": 1.234, "publish": 0.5, "commit": 8.0},
)


class Watched:
    """An observer with its lines and metrics at hand."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.metrics = Metrics()
        self.health = Health(lambda: 0.0)
        log = make_log(self.stream, deployment="blue", worker="blue-0")
        self.observer = TelemetryObserver(log=log, metrics=self.metrics, health=self.health)
        self.as_the_runtime_sees_it: Observer = self.observer

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def value(self, name: str, **labels: str) -> float | None:
        registry: CollectorRegistry = self.metrics.registry
        return registry.get_sample_value(name, labels)


def secret(cause: Cause = Cause.SENTENCE, words: int = 2, waited_ms: int = 300) -> Segment:
    return a_segment(
        [SegmentWord(text=CANARY, punctuation="period", disfluency="O")] * words,
        sentence_end=cause is Cause.SENTENCE,
        cause=cause,
        timing=Timing(appended_ms=1000, polled_ms=1010, frozen_ms=1000 + waited_ms),
    )
