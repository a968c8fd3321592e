"""A partition without a committed offset starts afresh only where nothing else knows it."""

from __future__ import annotations

import pytest

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.commit_steps import CommitStep
from caesura.worker.runtime.settings.settings import StartAt
from tests.harness.crashing import Crash, CrashAt
from tests.harness.in_memory_world import World
from tests.harness.speech import event, said


def test_an_offset_that_was_deleted_with_redis_does_not_publish_everything_again() -> None:
    world = World()
    world.send(event("ann", 0, "one", session_end=True))
    first = world.worker(0)
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    world.broker.set_offset("caesura", "asr.words", 0, None)
    second = world.worker(1)
    second.settle()
    assert [one.reason for one in second.worker.assignment.parked.values()] == ["offset_from_outside"]
    assert said(world.segments()) == ["one"]


def _one_checkpoint(world: World) -> None:
    """Have the very first checkpoint publish a segment, and the offset deleted after it."""
    world.send(event("ann", 0, "one", "two", session_end=True))
    first = world.worker(0, observer=CrashAt(CommitStep.ADOPTED))
    with pytest.raises(Crash):
        first.settle()
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    assert said(world.segments()) == ["one", "two"]
    world.broker.set_offset("caesura", "asr.words", 0, None)


def test_an_offset_that_was_deleted_after_the_very_first_checkpoint_publishes_nothing_again() -> None:
    world = World()
    _one_checkpoint(world)
    second = world.worker(1)
    second.settle()
    assert [one.reason for one in second.worker.assignment.parked.values()] == ["offset_from_outside"]
    assert said(world.segments()) == ["one", "two"]


def test_the_same_is_adopted_where_the_setting_allows_it() -> None:
    world = World()
    _one_checkpoint(world)
    second = world.worker(1, adopt_foreign_offsets=True, start_at=StartAt.LATEST)
    second.settle()
    assert second.worker.unready() == ()
    world.send(event("ann", 0, "three", session_end=True))
    second.settle()
    assert [(one.since, said([one])) for one in world.segments()] == [(0, ["one", "two"]), (1, ["three"])]


def test_a_first_checkpoint_that_was_aborted_begins_again_without_anybodys_help() -> None:
    world = World()
    world.send(event("ann", 0, "one", session_end=True))
    for _ in range(2):
        fallen = world.worker(0, observer=CrashAt(CommitStep.PUBLISHED))
        with pytest.raises(Crash):
            fallen.settle()
        world.broker.expel("caesura", "asr.words", fallen.source.member_id)
    world.worker(0).settle()
    assert said(world.segments()) == ["one"]


def test_partitions_added_to_the_input_park_them_all_the_new_ones_too() -> None:
    world = World(partitions=2)
    world.send(*(event(name, 0, "one", session_end=True) for name in ("ann", "ben", "cy", "dee")))
    first = world.worker(0)
    first.settle()
    first.worker.drain()
    world.broker.add_partitions("asr.words", 3)
    for topic in ("asr.segments", "asr.words.dead", "caesura.ledger", "translate.de"):
        world.broker.add_partitions(topic, 3)
    second = world.worker(1)
    second.turn(100)
    parked = second.worker.assignment.parked
    assert {number: one.reason for number, one in parked.items()} == dict.fromkeys(range(3), "partition_count_changed")


def test_a_worker_waits_for_brokers_that_are_away_when_it_starts() -> None:
    world = World()
    world.send(event("ann", 0, "one", session_end=True))
    for _ in range(3):
        world.broker.fail("partition_count", BrokerError("nobody answers"))
    worker = world.worker()
    worker.settle()
    assert said(world.segments()) == ["one"]


def test_a_worker_that_is_told_to_stop_while_it_waits_for_brokers_stops() -> None:
    world = World()
    worker = world.worker(start=False)
    for _ in range(50):
        world.broker.fail("partition_count", BrokerError("nobody answers"))
    asked = iter([False] * 5 + [True] * 100)
    worker.worker.run(lambda: next(asked))
    assert worker.source.member_id == ""


@pytest.mark.parametrize("failures", [1, 6])
def test_a_start_at_the_end_reads_what_came_since_the_first_claim_however_often_its_checkpoint_fails(
    failures: int,
) -> None:
    world = World(rules=DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000))
    world.send(event("old", 0, "said", "before"))
    worker = world.worker(start_at=StartAt.LATEST)
    worker.turn(3)
    for number in range(failures):
        world.broker.fail("send_offsets", AbortableError("replicas are missing"))
        world.send(event("ann", number, f"w{number}", utterance_end=True))
        worker.turn(4)
    worker.settle()
    world.send(event("ann", failures, "end", session_end=True))
    worker.settle()
    assert said(world.segments()) == [*(f"w{number}" for number in range(failures)), "end"]
    assert worker.worker.unready() == ()
