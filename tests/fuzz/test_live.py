"""The fuzzer through a live worker, in short, and the limit on what it may refuse."""

from __future__ import annotations

import pytest

from caesura.schemas.limits import MAX_EVENT_BYTES
from tests.fuzz.live import Live
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import UNHURRIED, RealWorld
from tests.harness.speech import by_session, said, speech


@pytest.mark.timeout(300)
def test_two_thousand_bad_messages_disturb_no_good_session(kafka: Kafka, redis_url: str, deployment: str) -> None:
    run = Live(kafka, redis_url, deployment, seed=3)
    run.run(2000)
    assert run.violations == []
    assert run.account.reasons["malformed"] > 100
    assert len(run.account.reasons) >= 10


def test_a_refused_event_as_large_as_may_be_is_a_dead_letter_and_aborts_nothing(
    kafka: Kafka, redis_url: str, deployment: str
) -> None:
    world = RealWorld(kafka, redis_url, deployment, partitions=1, rules=UNHURRIED)
    value = b"\xc1" + bytes(MAX_EVENT_BYTES - 100)
    world.send_bytes(b"ann", value)
    world.send(*speech("ben", 20))
    worker = world.worker()
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
    (letter,) = world.records(world.dead_topic)
    headers = dict(letter.headers)
    assert headers["caesura.reason"] == b"malformed"
    assert letter.value == value
    assert said(world.segments()) == [word.text for one in speech("ben", 20) for word in one.words]


def test_more_malformed_events_than_the_limit_park_their_partition_and_no_other(
    kafka: Kafka, redis_url: str, deployment: str
) -> None:
    world = RealWorld(kafka, redis_url, deployment, partitions=2, rules=UNHURRIED)
    names = [f"s{number}" for number in range(20)]
    flooded = next(name for name in names if world.partition_of(name) == 0)
    other = next(name for name in names if world.partition_of(name) == 1)
    for number in range(40):
        world.send_bytes(flooded.encode(), b"\xc1%d" % number)
    world.send(*speech(flooded, 8))
    worker = world.worker(dead_letter_limit=25)
    worker.turn_until(lambda: bool(worker.worker.assignment.parked))
    world.send(*speech(other, 20))
    worker.turn_until(lambda: any(one.session_end for one in world.segments()))
    assert worker.worker.unready() == ("partition 0 parked: dead_letter_limit",)
    # The one that was too much is among them: nothing is refused without a dead letter.
    assert [one.value for one in world.records(world.dead_topic)] == [b"\xc1%d" % number for number in range(26)]
    assert set(by_session(world.segments())) == {other}
    worker.worker.drain()
