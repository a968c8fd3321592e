"""One stage for twins and real parts, so that a row of the protocol's table is written once and shown on both."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import redis
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import NewPartitions

from caesura.schemas.codec import encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.adapters.redis.session_store import partition_key
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import NextOffset, Record
from caesura.worker.runtime.loop.loop import Worker
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.parts.committed import last_stable_offset_lags
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import RealWorker, RealWorld
from tests.harness.unsure import Plan, UnsurePublisher
from tests.harness.waiting import wait_until

_RULES: dict[str, object] = {"flush_after_ms": 500, "stall_after_ms": 500, "idle_after_ms": 10_000}
_SOON: dict[str, object] = {"session_timeout_ms": 2_000, "transaction_timeout_ms": 3_000}
_ALL = frozenset({"de"})


class Player(Protocol):
    """A worker on a stage, turned by the test."""

    worker: Worker

    def until(self, done: Callable[[], bool]) -> None:
        """Turn until a condition holds; the test fails where it never does."""

    @property
    def caught_up(self) -> bool:
        """Whether every record sent is applied and committed, and nothing waits."""

    def vanish(self) -> None:
        """Be gone: the group notices, an open transaction stays open."""


class Stage(Protocol):
    """Topics, a Redis and a clock."""

    def now_ms(self) -> int: ...

    def send(self, *events: WordsEvent, timestamp_ms: int | None = None) -> None: ...

    def send_to(self, partition: int, sent: WordsEvent) -> None: ...

    def enter(self, ordinal: int = 0, *, observer: Observer | None = None, **changes: Any) -> Player: ...  # noqa: ANN401

    def enter_unsure(self, ordinal: int, *plans: Plan) -> tuple[Player, UnsurePublisher]: ...

    def segments(self) -> list[Segment]: ...

    def letters(self) -> list[Record]: ...

    def set_offset(self, next_offset: int) -> None: ...

    def add_partitions(self) -> None: ...

    def lose_a_session(self) -> None: ...

    def lose_redis(self) -> None: ...

    def outlive_transaction(self, ordinal: int) -> None:
        """Come back when the broker has timed the open transaction out."""


class InMemoryStage:
    """On twins: time passes as the test turns."""

    def __init__(self) -> None:
        self.world = World(rules=DecodingRules(**_RULES, routes=_ALL))  # type: ignore[arg-type]
        self.sent = 0

    def now_ms(self) -> int:
        return self.world.clock.wall_ms()

    def send(self, *events: WordsEvent, timestamp_ms: int | None = None) -> None:
        self.world.send(*events, timestamp_ms=timestamp_ms)
        self.sent += len(events)

    def send_to(self, partition: int, sent: WordsEvent) -> None:
        self.world.broker.append("asr.words", partition, encode_event(sent), key=sent.session.encode())

    def enter(self, ordinal: int = 0, *, observer: Observer | None = None, **changes: Any) -> Player:  # noqa: ANN401
        return _InMemoryPlayer(self, self.world.worker(ordinal, observer=observer, **changes))

    def enter_unsure(self, ordinal: int, *plans: Plan) -> tuple[Player, UnsurePublisher]:
        around = _Around(plans)
        return _InMemoryPlayer(self, self.world.worker(ordinal, around=around)), around.made

    def segments(self) -> list[Segment]:
        return self.world.segments()

    def letters(self) -> list[Record]:
        return self.world.records("asr.words.dead")

    def set_offset(self, next_offset: int) -> None:
        self.world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=next_offset, metadata=""))

    def add_partitions(self) -> None:
        self.world.broker.add_partitions("asr.words", 2)

    def lose_a_session(self) -> None:
        self.world.redis.partition(0).sessions.popitem()

    def lose_redis(self) -> None:
        self.world.redis.lose_everything()

    def outlive_transaction(self, ordinal: int) -> None:
        self.world.broker.expire_transaction(f"caesura-{ordinal}")


class _InMemoryPlayer:
    def __init__(self, stage: InMemoryStage, twin: InMemoryWorker) -> None:
        self._stage = stage
        self._twin = twin
        self.worker = twin.worker

    def until(self, done: Callable[[], bool]) -> None:
        for _ in range(3000):
            if done():
                return
            self._twin.turn()
            self._stage.world.clock.pass_s(0.005)
        raise AssertionError(f"never came: {self.worker.unready()}")

    @property
    def caught_up(self) -> bool:
        loaded = self.worker.assignment.loaded.get(0)
        return loaded is not None and loaded.next_offset >= self._stage.sent and not loaded.changed

    def vanish(self) -> None:
        self._stage.world.broker.expel("caesura", "asr.words", self._twin.source.member_id)


class RealStage:
    """On a real Kafka and Redis: one partition, whose time stamps are the test's."""

    def __init__(self, kafka: Kafka, redis_url: str, deployment: str) -> None:
        self.world = RealWorld(
            kafka,
            redis_url,
            deployment,
            partitions=1,
            kafka_changes=_SOON,
            rules=_RULES,
            words_config={"message.timestamp.type": "CreateTime"},
        )

    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def send(self, *events: WordsEvent, timestamp_ms: int | None = None) -> None:
        self.world.send(*events, timestamp_ms=timestamp_ms)

    def send_to(self, partition: int, sent: WordsEvent) -> None:
        self.world.send_bytes(sent.session.encode(), encode_event(sent), partition=partition)

    def enter(self, ordinal: int = 0, *, observer: Observer | None = None, **changes: Any) -> Player:  # noqa: ANN401
        return _RealPlayer(self.world.worker(ordinal, observer=observer, **changes))

    def enter_unsure(self, ordinal: int, *plans: Plan) -> tuple[Player, UnsurePublisher]:
        around = _Around(plans)
        return _RealPlayer(self.world.worker(ordinal, around=around)), around.made

    def segments(self) -> list[Segment]:
        return self.world.segments()

    def letters(self) -> list[Record]:
        return self.world.records(self.world.dead_topic)

    def set_offset(self, next_offset: int) -> None:
        place = TopicPartition(self.world.words_topic, 0, next_offset)
        group = ConsumerGroupTopicPartitions(self.world.deployment, [place])
        for future in self.world.kafka.admin.alter_consumer_group_offsets([group]).values():
            future.result(30)

    def add_partitions(self) -> None:
        grown = [NewPartitions(self.world.words_topic, 2)]
        for future in self.world.kafka.admin.create_partitions(grown).values():
            future.result(30)

    def lose_a_session(self) -> None:
        with redis.Redis.from_url(self.world.redis_url) as client:
            key = partition_key(self.world.deployment, self.world.words_topic, 0)
            field = next(name for name in client.hkeys(key) if name.startswith(b"s:"))
            client.hdel(key, field)

    def lose_redis(self) -> None:
        with redis.Redis.from_url(self.world.redis_url) as client:
            client.delete(partition_key(self.world.deployment, self.world.words_topic, 0))

    def outlive_transaction(self, ordinal: int) -> None:
        del ordinal
        admin, topic = self.world.kafka.admin, self.world.segments_topic
        wait_until(lambda: not last_stable_offset_lags(admin, topic, [0]), within_s=120)


class _RealPlayer:
    def __init__(self, real: RealWorker) -> None:
        self._real = real
        self.worker = real.worker

    def until(self, done: Callable[[], bool]) -> None:
        self._real.turn_until(done, timeout_s=120)

    @property
    def caught_up(self) -> bool:
        return self._real.caught_up

    def vanish(self) -> None:
        self._real.leave()


class _Around:
    """Puts an unsure publisher around a sure one, and keeps hold of it."""

    def __init__(self, plans: tuple[Plan, ...]) -> None:
        self._plans = plans
        self.made: UnsurePublisher

    def __call__(self, sure: Publisher) -> Publisher:
        self.made = UnsurePublisher(sure, *self._plans)
        return self.made
