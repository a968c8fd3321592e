"""A replay forgets nobody: what was a repeat, or too late, when it was applied is so again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from caesura.schemas.events import WordsEvent
from caesura.worker.core.decoding.context import Origin
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partition import PartitionSessions
from tests.harness.in_memory_world import World
from tests.harness.partition_driver import NOW_MS, Driver
from tests.harness.partition_driver import event as session_event
from tests.harness.speech import event

RULES = DecodingRules(flush_after_ms=300, stall_after_ms=300, idle_after_ms=600_000, forget_after_ms=86_400_000)
SHORT = replace(RULES, forget_after_ms=60_000)
REPEAT = event("ann", 0, "a0", "a1")
AFTER_ITS_END = event("ann", 2, "a2")


def published(world: World) -> list[tuple[str, int, int, list[str]]]:
    return [(one.session, one.since, one.index, [word.text for word in one.words]) for one in world.segments()]


def letters(world: World) -> list[bytes | None]:
    return [dict(record.headers)["caesura.reason"] for record in world.records("asr.words.dead")]


@pytest.mark.parametrize("late", [REPEAT, AFTER_ITS_END])
def test_with_a_shorter_memory_than_then_nothing_is_published_again(late: WordsEvent) -> None:
    world = World(rules=RULES)
    worker = world.worker()
    world.send(event("ben", 0, "b0"))  # stays left context, and so holds the replay offset
    world.send(event("ann", 0, "a0", "a1"), event("ann", 1, session_end=True))
    worker.settle()
    world.clock.pass_s(120)
    world.send(late, event("ben", 1, "b1"))
    worker.settle()
    before = published(world), letters(world)

    worker.worker.drain()
    world.redis.lose_everything()
    world.rules = SHORT
    worker = world.worker()
    worker.settle()
    world.clock.pass_s(2)
    worker.settle()

    assert (published(world), letters(world)) == before
    world.send(event("ann", 0, "anew"))
    worker.settle()
    world.clock.pass_s(2)
    worker.settle()
    assert published(world)[len(before[0]) :] == [("ann", 5, 0, ["anew"])], "behind the rebuild she is forgotten"


def test_with_producers_time_that_is_cut_back_less_than_then_nothing_is_published_again() -> None:
    world = World(rules=SHORT)
    worker = world.worker()
    now = world.clock.wall_ms
    world.send(event("ben", 0, "b0"), timestamp_ms=now())
    world.send(event("ann", 0, "a0", "a1"), event("ann", 1, session_end=True), timestamp_ms=now())
    worker.settle()
    world.send(REPEAT, timestamp_ms=now() + 100_000)
    worker.settle()
    before = published(world)

    world.clock.pass_s(50)
    world.redis.lose_everything()
    world.clock.pass_s(50)
    world.broker.expel("caesura", "asr.words", worker.source.member_id)
    worker = world.worker()
    worker.settle()
    world.clock.pass_s(2)
    worker.settle()

    assert published(world) == before


@pytest.mark.parametrize("forget_after_ms", [0, 1_000])
def test_whoever_is_due_to_be_forgotten_is_once_all_is_replayed(forget_after_ms: int) -> None:
    driver = Driver(rules=replace(RULES, forget_after_ms=forget_after_ms))
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(session_event(0, "one two", session_end=True))
    driver.give(session_event(0, "three", session="other"), after_ms=50_000)
    repeat = session_event(0, "one two")
    origin = Origin(offset=2, appended_ms=0, polled_ms=0, time_ms=NOW_MS + 60_000)
    assert driver.sessions.offer(repeat, origin).outcome.name == "REPEAT"
    assert not driver.sessions.forgotten

    driver.sessions.replayed(NOW_MS + 60_000)
    driver.sessions.tick(NOW_MS + 60_000)
    assert set(driver.sessions.forgotten) == {"s"}
