"""An offset set from outside is adopted with empty state, for good: no later rebuild brings back who was given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.commit_steps import CommitStep
from caesura.worker.ports.observer import ClaimWaits
from caesura.worker.ports.records import CommittedOffset, NextOffset
from caesura.worker.runtime.settings.settings import StartAt
from tests.harness.crashing import Crash, CrashAt
from tests.harness.heard import Heard
from tests.harness.in_memory_world import World
from tests.harness.speech import event, said

PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000, idle_after_ms=20_000)


def a_world_with_an_offset_from_outside(next_offset: int | None = None) -> World:
    """Let a session have published and go on; then somebody sets the offset, to the log's end unless said."""
    world = World(rules=PATIENT)
    world.send(event("ann", 0, "one", "two", utterance_end=True), event("ann", 1, "three"))
    before = world.worker(0)
    before.settle()
    before.worker.drain()
    end = world.broker.log("asr.words", 0).end
    offset = NextOffset(next_offset=end if next_offset is None else next_offset, metadata="")
    world.broker.set_offset("caesura", "asr.words", 0, offset)
    return world


@pytest.mark.parametrize("is_lost", [False, True], ids=["redis stays", "redis is lost"])
def test_sessions_of_before_are_begun_anew_whether_or_not_redis_is_lost_later(is_lost: bool) -> None:
    world = a_world_with_an_offset_from_outside()
    adopting = world.worker(1, adopt_foreign_offsets=True)
    adopting.settle()
    adopting.worker.drain()
    if is_lost:
        world.redis.lose_everything()
    world.send(event("ann", 2, "four", session_end=True))
    after = world.worker(2)
    after.settle()
    assert list(after.worker.assignment.loaded[0].sessions.names()) == ["ann"]
    last = world.segments()[-1]
    assert (last.since, last.index, said([last])) == (2, 0, ["four"])


def test_what_the_adopting_worker_began_itself_is_not_forgotten() -> None:
    world = a_world_with_an_offset_from_outside()
    world.send(event("ann", 2, "four", utterance_end=True))
    adopting = world.worker(1, adopt_foreign_offsets=True)
    adopting.settle()
    world.redis.lose_everything()
    world.send(event("ann", 3, "five", session_end=True))
    adopting.turn(100)
    assert [(one.since, one.index, said([one])) for one in world.segments()[1:]] == [(2, 0, ["four"]), (2, 1, ["five"])]


def test_an_adoption_that_does_not_commit_is_done_again() -> None:
    world = a_world_with_an_offset_from_outside()
    adopting = world.worker(1, adopt_foreign_offsets=True, start=False)
    world.broker.fail("send_offsets", BrokerError("away"), of="caesura-1")
    adopting.worker.start()
    adopting.turn(120)
    adopting.worker.drain()
    world.redis.lose_everything()
    after = world.worker(2)
    after.settle()
    assert list(after.worker.assignment.loaded[0].sessions.names()) == []


def test_earlier_refusals_hold_where_the_adoption_reads_them_again() -> None:
    world = World(rules=replace(PATIENT, max_open_sessions=1))
    world.send(event("ben", 0, "who"), event("ann", 0, "one"))
    before = world.worker(0)
    before.settle()
    before.worker.drain()
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"too_many_sessions"]
    world.rules = PATIENT
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=1, metadata=""))
    adopting = world.worker(1, adopt_foreign_offsets=True)
    adopting.settle()
    world.redis.lose_everything()
    world.send(event("ann", 1, "two", session_end=True))
    adopting.turn(100)
    assert said(world.segments()) == ["one", "two"]


def _forgotten(world: World) -> None:
    """Have a session begin, publish, and be forgotten."""
    world.rules = replace(PATIENT, forget_after_ms=0)
    world.send(event("ann", 0, "one"))
    before = world.worker(0)
    before.settle()
    world.clock.pass_s(30.0)
    before.settle()
    assert list(before.worker.assignment.loaded[0].sessions.names()) == []
    before.worker.drain()
    world.rules = PATIENT


def _living(world: World) -> None:
    world.rules = PATIENT
    world.send(event("ann", 0, "one", utterance_end=True))
    before = world.worker(0)
    before.settle()
    before.worker.drain()


@pytest.mark.parametrize("published", [_living, _forgotten])
@pytest.mark.parametrize("offset", [NextOffset(next_offset=0, metadata=""), None], ids=["set back", "deleted"])
def test_a_published_session_that_would_restart_parks_its_partition(
    published: Callable[[World], None], offset: NextOffset | None
) -> None:
    world = World()
    published(world)
    world.broker.set_offset("caesura", "asr.words", 0, offset)
    adopting = world.worker(1, adopt_foreign_offsets=True)
    adopting.settle()
    (parked,) = adopting.worker.assignment.parked.values()
    assert parked.reason == "offset_from_outside"
    assert "began as late as 0" in parked.detail
    names = [(one.session, one.since, one.index) for one in world.segments()]
    assert len(names) == len(set(names))


def test_restoring_the_offset_after_a_failed_adoption_recovers() -> None:
    world = World()
    _living(world)
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=0, metadata=""))
    attempt = world.worker(1, adopt_foreign_offsets=True)
    attempt.settle()
    attempt.worker.drain()
    right = NextOffset(next_offset=committed.next_offset, metadata=committed.metadata)
    world.broker.set_offset("caesura", "asr.words", 0, right)
    world.send(event("ann", 1, "two", session_end=True))
    world.worker(2).settle()
    assert [(one.since, one.index, said([one])) for one in world.segments()] == [(0, 0, ["one"]), (0, 1, ["two"])]


def test_words_after_an_adopted_offset_repeat_in_a_new_session() -> None:
    world = World(rules=PATIENT)
    world.send(event("ann", 0, "one", utterance_end=True), event("ann", 1, "two", utterance_end=True))
    before = world.worker(0)
    before.settle()
    before.worker.drain()
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=1, metadata=""))
    world.worker(1, adopt_foreign_offsets=True).settle()
    assert [(one.since, one.index, said([one])) for one in world.segments()] == [
        (0, 0, ["one"]),
        (0, 1, ["two"]),
        (1, 0, ["two"]),
    ]


def test_an_offset_deleted_with_redis_does_not_repeat_everything() -> None:
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


def test_an_offset_deleted_after_the_first_checkpoint_repeats_nothing() -> None:
    world = World()
    _one_checkpoint(world)
    second = world.worker(1)
    second.settle()
    assert [one.reason for one in second.worker.assignment.parked.values()] == ["offset_from_outside"]
    assert said(world.segments()) == ["one", "two"]


def test_a_lost_offset_is_adopted_if_the_setting_allows_it() -> None:
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


def test_start_at_end_reads_from_the_first_claim_on() -> None:
    failures = 6
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


def test_start_at_end_reads_what_came_since_a_worker_that_died_before_its_first_commit() -> None:
    world = World()
    world.send(event("old", 0, "said", "before", session_end=True))
    fallen = world.worker(0, start_at=StartAt.LATEST, observer=CrashAt(CommitStep.PUBLISHED))
    with pytest.raises(Crash):
        fallen.settle()
    world.broker.expel("caesura", "asr.words", fallen.source.member_id)
    world.send(event("ann", 0, "one", session_end=True))
    world.worker(0, start_at=StartAt.LATEST).settle()
    assert said(world.segments()) == ["one"]


def test_start_at_end_asks_for_no_end_where_an_offset_is_committed() -> None:
    world, heard = World(), Heard(ClaimWaits)
    first = world.worker(start_at=StartAt.LATEST)
    first.settle()
    world.send(event("ann", 0, "one", session_end=True))
    first.settle()
    first.worker.drain()
    world.broker.fail("watermarks", BrokerError("its leader is away"))
    world.worker(1, start_at=StartAt.LATEST, observer=heard).settle()
    assert heard.events == []


_RULES = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000)


def _spoken() -> tuple[World, CommittedOffset]:
    """Return a world whose worker has left after ten words of one session, and what it committed last."""
    world = World(rules=_RULES)
    worker = world.worker()
    world.send(*(event("ann", n, f"a{n}", utterance_end=True) for n in range(10)))
    worker.settle()
    worker.worker.drain()
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    return world, committed


def _set(world: World, next_offset: int, metadata: str) -> None:
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=next_offset, metadata=metadata))


@pytest.mark.parametrize("moved_by", [5, -1])
def test_an_offset_moved_with_its_metadata_parks_and_loses_no_word(moved_by: int) -> None:
    world, committed = _spoken()
    _set(world, committed.next_offset + moved_by, committed.metadata)
    world.send(*(event("ben", n, f"b{n}", utterance_end=True) for n in range(10)))
    worker = world.worker()
    worker.turn(300)
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["offset_from_outside"]

    _set(world, committed.next_offset, committed.metadata)
    world.release(0)
    worker.turn(600)
    assert said(world.segments()) == [f"a{n}" for n in range(10)] + [f"b{n}" for n in range(10)]


@pytest.mark.parametrize("place", ["asr.words 1", "asr.speech 0"])
def test_metadata_of_another_partition_or_topic_parks(place: str) -> None:
    world, committed = _spoken()
    _set(world, committed.next_offset, committed.metadata.replace("asr.words 0", place, 1))
    worker = world.worker()
    worker.settle()
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["offset_from_outside"]


def test_a_moved_offset_is_adopted_if_the_setting_allows_it() -> None:
    world, committed = _spoken()
    world.send(*(event("ben", n, f"b{n}", utterance_end=True) for n in range(5)))
    _set(world, committed.next_offset + 2, committed.metadata)
    worker = world.worker(adopt_foreign_offsets=True)
    worker.settle()
    assert worker.worker.unready() == ()
    assert said(world.segments())[10:] == ["b2", "b3", "b4"]
