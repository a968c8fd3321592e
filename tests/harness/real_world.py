"""A world of real parts: an Apache Kafka, a Redis, and workers in this process or in others."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Producer

from caesura.schemas.codec import decode_segment, encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.commit_steps import CommitStep
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import Record
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from tests.harness.forked import Forked
from tests.harness.parts.committed import committed_records
from tests.harness.parts.kafka_part import Kafka
from tests.harness.pipeline import Pipeline, build
from tests.harness.running import worker_process
from tests.harness.waiting import wait_until

UNHURRIED: dict[str, object] = {"flush_after_ms": 200_000, "stall_after_ms": 200_000, "idle_after_ms": 400_000}
"""Rules with which a slow machine makes no silence that nobody meant."""

_COORDINATOR_ON_ITS_WAY = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError._TIMED_OUT,
    KafkaError.REQUEST_TIMED_OUT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Where a worker's process sends itself a signal, how often it passes there before, and the file that starts it."""

    at: CommitStep
    passes: int = 0
    number: int = signal.SIGKILL
    once: Path | None = None


@dataclass
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
    words_config: dict[str, str] = field(default_factory=dict)
    sent: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        stamped = {"message.timestamp.type": "LogAppendTime"}
        self.kafka.create_topics_named(
            {
                self.words_topic: stamped | self.words_config,
                self.segments_topic: stamped,
                self.dead_topic: stamped,
                self.german_topic: stamped,
                f"{self.deployment}.ledger": {"cleanup.policy": "compact"},
                self.claims_topic: {},
            },
            self.partitions,
        )

    @property
    def words_topic(self) -> str:
        return f"{self.deployment}.words"

    @property
    def claims_topic(self) -> str:
        return f"{self.deployment}.claims"

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

    def worker(
        self,
        ordinal: int = 0,
        *,
        observer: Observer | None = None,
        engine: Engine | None = None,
        around: Callable[[Publisher], Publisher] = lambda publisher: publisher,
        **changes: object,
    ) -> RealWorker:
        """Build a worker in this process; turn it by hand."""
        return RealWorker(self, build(self.pipeline(ordinal, **changes), observer, engine=engine, around=around))

    @contextmanager
    def process(
        self, ordinal: int = 0, *, kill: Kill | None = None, engine: str = "scripted", **changes: object
    ) -> Iterator[Forked]:
        """Run a worker in a process of its own; it is killed at the end if it still lives."""
        pipeline = self.pipeline(ordinal, **changes).replaced(engine=engine)
        if kill is not None:
            pipeline = pipeline.replaced(kill_at=kill.at.value, kill_after=kill.passes, kill_with=int(kill.number))
            pipeline = pipeline.replaced(kill_once=str(kill.once) if kill.once is not None else None)
        with closing(worker_process(pipeline)) as process:
            yield process

    def send(self, *events: WordsEvent, timestamp_ms: int | None = None) -> None:
        """Send events as a producer should; a time stamp counts where the topic's are the producers' own."""
        for one in events:
            self._queue(one.session.encode(), encode_event(one), timestamp_ms=timestamp_ms)
        self._flush()

    def send_bytes(self, key: bytes | None, value: bytes | None, *, partition: int | None = None) -> int:
        """Send whatever bytes; return the partition, the key's unless it is given."""
        if partition is not None and partition >= self.partitions:
            del self._producer  # a fresh one asks for the topic's partitions
        where = self._queue(key, value, partition=partition)
        self._flush()
        return where

    def partition_of(self, session: str) -> int:
        """Return the partition that a session's events go to."""
        return murmur2_partition(session.encode(), self.partitions)

    def _queue(
        self, key: bytes | None, value: bytes | None, *, partition: int | None = None, timestamp_ms: int | None = None
    ) -> int:
        where = murmur2_partition(key or b"", self.partitions) if partition is None else partition
        self._producer.produce(self.words_topic, value, key, where, timestamp=timestamp_ms or 0)
        self._producer.poll(0)
        self.sent[where] += 1
        return where

    def _flush(self) -> None:
        assert self._producer.flush(30) == 0

    @cached_property
    def _producer(self) -> Producer:
        return Producer(
            {"bootstrap.servers": self.kafka.bootstrap, "enable.idempotence": True, "linger.ms": 5, "log_level": 0}
        )

    def records(self, topic: str) -> list[Record]:
        """Return what a ``read_committed`` reader sees of a topic, partition by partition."""
        return committed_records(self.kafka.admin, self._settings(), topic)

    def segments(self) -> list[Segment]:
        return [decode_segment(one.value or b"") for one in self.records(self.segments_topic)]

    def wait_for(self, done: Callable[[list[Segment]], bool], *, timeout_s: float = 120.0) -> list[Segment]:
        """Read the segments until they satisfy a condition, and return them; the test fails where they never do."""
        segments: list[Segment] = []

        def read() -> bool:
            segments[:] = self.segments()
            return done(segments)

        def far() -> str:
            return f"{len(segments)} segments, {sum(len(one.words) for one in segments)} words"

        wait_until(read, far, within_s=timeout_s, every_s=0.4)
        return segments

    def wait_for_members(self, count: int, *, turning: Callable[[], None] = lambda: None) -> None:
        """Wait until so many members of the group hold partitions; the test fails where they never do."""
        wait_until(
            lambda: self._members() == count, lambda: f"{self._members()} members, not {count}", meanwhile=turning
        )

    def _members(self) -> int:
        asked = self.kafka.admin.describe_consumer_groups([self.deployment], request_timeout=5)
        try:
            members = asked[self.deployment].result(30).members
        except KafkaException as error:
            if error.args[0].code() not in _COORDINATOR_ON_ITS_WAY:
                raise
            return 0
        return sum(1 for one in members if one.assignment is not None and one.assignment.topic_partitions)

    def _settings(self) -> KafkaSettings:
        return KafkaSettings(bootstrap_servers=self.kafka.bootstrap, group_id=f"{self.deployment}-outside")


class RealWorker:
    """A worker on real parts in the test's own thread."""

    def __init__(self, world: RealWorld, built: tuple[RuntimeAdapters, Worker]) -> None:
        self._world = world
        self.parts, self.worker = built
        _OPEN.append(self)
        self.worker.start()

    @property
    def caught_up(self) -> bool:
        """Whether every record sent so far is applied and committed, and nothing waits."""
        loaded = self.worker.assignment.loaded
        return len(loaded) == self._world.partitions and all(
            one.next_offset >= self._world.sent[number] and not one.changed for number, one in loaded.items()
        )

    def turn_until(self, done: Callable[[], bool], *, timeout_s: float = 120.0) -> None:
        """Turn until a condition holds; the test fails where it never does."""
        wait_until(
            done,
            lambda: f"not done: {self.worker.unready()}",
            within_s=timeout_s,
            every_s=0,
            meanwhile=lambda: self.worker.turn(0.02),
        )

    def turn_for(self, seconds: float) -> None:
        ends_at_s = time.monotonic() + seconds
        while time.monotonic() < ends_at_s:
            self.worker.turn(0.02)

    def leave(self) -> None:
        """Vanish from the group without another write, as a crashed process does, only sooner noticed."""
        self.parts.source.close()

    def close(self) -> None:
        """Let go of every connection; harmless after ``leave`` and after a drain."""
        self.worker.close()


_OPEN: list[RealWorker] = []
"""Workers that were made and not closed yet: clients left to the garbage collector hold up whatever runs then."""


def close_all() -> None:
    """Close what a test has left open."""
    while _OPEN:
        _OPEN.pop().close()
