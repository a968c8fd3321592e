"""A real ledger that lost a record, then a loss of Redis: the partition parks, names it, and later goes on."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from caesura.schemas.events import WordsEvent
from caesura.worker.runtime.ledger.output_records import GIVEN_UP_HEADER
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import UNHURRIED, RealWorld
from tests.harness.speech import check_every_word_once, event

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def world(kafka: Kafka, redis_server: RedisServer, deployment: str) -> RealWorld:
    return RealWorld(kafka, redis_server.url, deployment, partitions=1, rules=UNHURRIED)


def _write(world: RealWorld, key: bytes, value: bytes | None) -> None:
    producer = Producer({"bootstrap.servers": world.kafka.bootstrap, "acks": "all", "log_level": 0})
    producer.produce(f"{world.deployment}.ledger", value, key, 0)
    assert producer.flush(30) == 0


def test_a_tombstoned_record_is_missed_and_restored(world: RealWorld, redis_server: RedisServer) -> None:
    told: list[WordsEvent] = []

    def say(seq: int, *, cut: bool = False, end: bool = False) -> None:
        these = [
            event(name, seq, f"{name}-{seq}", utterance_end=cut, session_end=end) for name in ("ann", "ben", "zoe")
        ]
        told.extend(these)
        world.send(*these)

    first = world.worker()
    for seq in range(2):
        say(seq, cut=True)
        first.turn_until(lambda: first.caught_up)
    say(2)
    first.turn_until(lambda: first.caught_up)
    published = len(world.segments())
    written = [one for one in world.records(f"{world.deployment}.ledger") if one.key == b"ben"][-1]
    first.worker.drain()
    _write(world, b"ben", None)
    redis_server.flush()

    second = world.worker(1)
    second.turn_until(lambda: bool(second.worker.assignment.parked))
    parked = second.worker.assignment.parked[0]
    assert parked.reason == "ledger_incomplete"
    assert "of 2 sessions that published, 3 were committed" in parked.detail
    assert "'ben' since 1 (2 segments, 2 words; ledger: none);" in parked.detail
    assert GIVEN_UP_HEADER in parked.detail
    say(3, end=True)
    second.turn_for(1.0)
    assert len(world.segments()) == published

    _write(world, b"ben", written.value)
    second.turn_until(lambda: second.caught_up)
    assert second.worker.unready() == ()
    check_every_word_once(told, world.segments())
