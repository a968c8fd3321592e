"""A world of real parts: an Apache Kafka, a Redis, and workers in this process or in others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from schemas.codec import decode_segment, encode_event
from schemas.events import WordsEvent
from schemas.segments import Segment
from tests.parts.kafka_part import Kafka
from tests.workers.pipeline import Pipeline, build
from worker.adapters.kafka_reader import KafkaReader, Start
from worker.adapters.kafka_sender import KafkaSender
from worker.adapters.kafka_settings import KafkaSettings
from worker.core.partitioning import murmur2_partition
from worker.ports import Record
from worker.runtime.observer import Observer, SeamStep

__all__ = ["Process", "RealWorld"]

_ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class RealWorld:
    """Topics of their own on a shared broker, and keys of their own in a shared Redis. Deployment tells them apart."""

    kafka: Kafka
    redis_url: str
    deployment: str
    partitions: int = 4
    group_protocol: str = "classic"
    changes: dict[str, object] = field(default_factory=dict)
    kafka_changes: dict[str, object] = field(default_factory=dict)
    rules: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for topic in (self.words_topic, self.segments_topic, self.dead_topic, self.german_topic):
            self.kafka.create_topic_named(topic, self.partitions, {"message.timestamp.type": "LogAppendTime"})
        self.kafka.create_topic_named(f"{self.deployment}.ledger", self.partitions, {"cleanup.policy": "compact"})

    @property
    def words_topic(self) -> str:
        return f"{self.deployment}.words"

    @property
    def segments_topic(self) -> str:
        return f"{self.deployment}.segments"

    @property
    def dead_topic(self) -> str:
        return f"{self.deployment}.dead"

    @property
    def german_topic(self) -> str:
        return f"{self.deployment}.de"

    def pipeline(self, ordinal: int = 0, **changes: object) -> Pipeline:
        """Return what a worker is built from; it can be sent to another process."""
        return Pipeline(
            bootstrap=self.kafka.bootstrap,
            redis_url=self.redis_url,
            deployment=self.deployment,
            ordinal=ordinal,
            group_protocol=self.group_protocol,
            changes={**self.changes, **changes},
            kafka_changes=self.kafka_changes,
            rules=self.rules,
        )

    def worker(self, ordinal: int = 0, *, observer: Observer | None = None, **changes: object) -> RealWorker:
        """Build a worker in this process; turn it by hand."""
        return RealWorker(self.pipeline(ordinal, **changes), observer)

    @contextmanager
    def process(self, ordinal: int = 0, **rest: object) -> Iterator[Process]:
        """Run a worker in a process of its own; it is killed at the end if it still lives."""
        process = Process(self.pipeline(ordinal, **rest))
        try:
            yield process
        finally:
            process.kill()

    def send(self, *events: WordsEvent) -> None:
        with KafkaSender(self._settings(), self.words_topic, murmur2_partition) as sender:
            for one in events:
                sender.send(one.session.encode(), encode_event(one))

    def records(self, topic: str) -> list[Record]:
        """Return what a ``read_committed`` reader sees of a topic now, partition by partition."""
        with KafkaReader(self._settings(), topic) as reader:
            return sorted(reader.read(Start(), follow=False), key=lambda one: (one.partition, one.offset))

    def segments(self) -> list[Segment]:
        return [decode_segment(one.value or b"") for one in self.records(self.segments_topic)]

    def wait_for(self, done: Callable[[list[Segment]], bool], *, timeout_s: float = 60.0) -> list[Segment]:
        """Read the segments until they satisfy a condition, and return them; the test fails where they never do."""
        ends_at_s = time.monotonic() + timeout_s
        while True:
            segments = self.segments()
            if done(segments):
                return segments
            if time.monotonic() > ends_at_s:
                words = sum(len(one.words) for one in segments)
                raise AssertionError(f"not done after {timeout_s} s: {len(segments)} segments, {words} words")
            time.sleep(0.2)

    def _settings(self) -> KafkaSettings:
        return KafkaSettings(bootstrap_servers=self.kafka.bootstrap, group_id=f"{self.deployment}-outside")


class RealWorker:
    """A worker on real parts in the test's own thread."""

    def __init__(self, pipeline: Pipeline, observer: Observer | None) -> None:
        self.parts, self.worker = build(pipeline, observer)
        self.worker.start()

    def turn_until(self, done: Callable[[], bool], *, timeout_s: float = 30.0) -> None:
        """Turn until a condition holds; the test fails where it never does."""
        ends_at_s = time.monotonic() + timeout_s
        while not done():
            assert time.monotonic() < ends_at_s, f"not done after {timeout_s} s: {self.worker.unready()}"
            self.worker.turn(0.02)

    def turn_for(self, seconds: float) -> None:
        ends_at_s = time.monotonic() + seconds
        while time.monotonic() < ends_at_s:
            self.worker.turn(0.02)

    def leave(self) -> None:
        """Vanish from the group without another write, as a crashed process does, only sooner noticed."""
        self.parts.source.close()


class Process:
    """A worker in another process."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.workers.process"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            text=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(pipeline.as_json()))
        self._process.stdin.close()

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def terminate(self, *, timeout_s: float = 30.0) -> int:
        """Stop it in good order and return its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout_s)

    def wait(self, *, timeout_s: float = 60.0) -> int:
        """Wait until it has ended by itself; minus the signal's number where one killed it."""
        return self._process.wait(timeout_s)

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        if self.lives:
            self._process.kill()
            self._process.wait(10)


