"""An offset set from outside is adopted with empty state, for good: no later rebuild brings back who was given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import BrokerError
from caesura.worker.ports.records import NextOffset
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


def test_what_was_refused_before_is_taken_for_good_where_the_adoption_reads_it_again() -> None:
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
def test_where_a_session_that_published_would_begin_again_it_parks_and_nothing_comes_under_the_same_name(
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


def test_the_offset_set_back_with_its_metadata_is_good_again_after_such_an_attempt() -> None:
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


def test_beyond_where_it_began_its_later_words_come_again_under_another_name() -> None:
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
