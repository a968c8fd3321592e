"""A world of twins: a broker, a Redis and a clock that only move when a test moves them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field

from caesura.schemas.codec import decode_segment, encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.memory.log_reader import MemoryLogReader, MemoryPeerTransactions
from caesura.worker.adapters.memory.publisher import MemoryPublisher
from caesura.worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore
from caesura.worker.adapters.memory.word_source import MemoryWordSource
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import Observer, SilentObserver
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import Record
from caesura.worker.ports.tentative_publisher import TentativePublisher
from caesura.worker.ports.tracer import Tracer
from caesura.worker.runtime.ledger.output_records import ledger_probe
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import Route, RuntimeSettings
from caesura.worker.runtime.settings.untraced import Untraced
from tests.harness.executors import DeferredExecutor

_OFFSETS_TURNS = 60
"""Offsets that move alone are committed within so many turns more."""
_START_MS = 1_700_000_000_000


@dataclass(slots=True)
class ManualClock:
    """Time that a test owns; wall and monotonic clock run together unless the test says otherwise."""

    now_s: float = 0.0
    wall_offset_ms: int = _START_MS

    def wall_ms(self) -> int:
        return self.wall_offset_ms + round(self.now_s * 1000)

    def monotonic_s(self) -> float:
        return self.now_s

    def sleep_s(self, seconds: float) -> None:
        self.pass_s(seconds)

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds


@dataclass(slots=True)
class World:
    """Everything outside of the workers. Workers made from it share it, as processes would."""

    partitions: int = 1
    rules: DecodingRules = field(default_factory=lambda: DecodingRules(routes=frozenset({"de"})))
    clock: ManualClock = field(default_factory=ManualClock)
    redis: MemoryRedis = field(default_factory=MemoryRedis)
    max_segment_bytes: int = 1_048_588
    broker: MemoryBroker = field(init=False)

    def __post_init__(self) -> None:
        self.broker = MemoryBroker(wall_ms=self.clock.wall_ms, wait=self.clock.pass_s)
        for topic in ("asr.words", "asr.words.dead", "caesura.ledger", "caesura.claims", "translate.de"):
            self.broker.create_topic(topic, self.partitions)
        self.broker.create_topic("asr.segments", self.partitions, max_message_bytes=self.max_segment_bytes)

    def settings(self, ordinal: int = 0, **changes: object) -> RuntimeSettings:
        routes = (Route(target="de", topic="translate.de"),)
        return RuntimeSettings(**{"ordinal": ordinal, "save_interval_ms": 0, "routes": routes, **changes})  # type: ignore[arg-type]

    def send(self, *events: WordsEvent, timestamp_ms: int | None = None) -> None:
        for one in events:
            key = one.session.encode()
            partition = murmur2_partition(key, self.partitions)
            self.broker.append("asr.words", partition, encode_event(one), key=key, timestamp_ms=timestamp_ms)

    def records(self, topic: str) -> list[Record]:
        return [one for partition in range(self.partitions) for one in self.broker.records(topic, partition)]

    def release(self, partition: int) -> None:
        """Do what ``caesura unpark`` does."""
        probe = ledger_probe("caesura.ledger", partition)
        self.broker.append(probe.topic, partition, probe.value, key=probe.key, headers=probe.headers)

    def raise_token(self, partition: int, token: int) -> None:
        """Let claims have gone before: the last one left this token with the group."""
        self.broker.leave("caesura", "asr.words", partition, lambda _: str(token))

    def segments(self) -> list[Segment]:
        return [decode_segment(one.value or b"") for one in self.records("asr.segments")]

    def worker(  # noqa: PLR0913 - each has its test
        self,
        ordinal: int = 0,
        *,
        observer: Observer | None = None,
        engine: Engine | None = None,
        around: Callable[[Publisher], Publisher] = lambda publisher: publisher,
        start: bool = True,
        tracer: Tracer | None = None,
        clock: Clock | None = None,
        tentative: TentativePublisher | None = None,
        saving: Executor | None = None,
        asking: Executor | None = None,
        **changes: object,
    ) -> InMemoryWorker:
        """Make a worker that shares this world; it is started unless told otherwise."""
        settings = self.settings(ordinal, **changes)
        store = MemorySessionStore(self.redis)
        source = MemoryWordSource(self.broker, "asr.words", group_id=settings.group)
        publisher = around(MemoryPublisher(self.broker, settings.transactional_id, "asr.words"))
        parts = RuntimeAdapters(
            source=source,
            publisher=publisher,
            store=store,
            reader=MemoryLogReader(self.broker),
            peers=MemoryPeerTransactions(self.broker, "asr.words", group_id=settings.group),
            engine=engine or ScriptedEngine(),
            clock=clock or self.clock,
            observer=observer or SilentObserver(),
            saving=saving or DeferredExecutor(is_deferring=False),
            asking=asking or DeferredExecutor(is_deferring=False),
            tentative=tentative,
            tracer=tracer or Untraced(),
        )
        worker = Worker(parts, settings, rules=self.rules, segmenters=segmenters)
        if start:
            worker.start()
        return InMemoryWorker(world=self, worker=worker, store=store, source=source, publisher=publisher)


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemoryWorker:
    """A worker on the twins, turned by hand."""

    world: World
    worker: Worker
    store: MemorySessionStore
    source: MemoryWordSource
    publisher: Publisher

    def turn(self, times: int = 1) -> None:
        for _ in range(times):
            self.worker.turn(0.02)

    def settle(self) -> None:
        """Turn for a few commit intervals of twin time, then until everything that was sent is committed."""
        self.turn(40)
        for _ in range(_OFFSETS_TURNS):
            if any(one.changed for one in self.worker.assignment.loaded.values()):
                self.turn()
