"""A flush without new input that kills whoever labels it is found, and does not stop its partition (ADR 0011)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from caesura.schemas.segments import Cause
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.engines import DEADLY, DeadlyEngine
from tests.harness.in_memory_world import World
from tests.harness.speech import by_session, event, said
from tests.harness.succession import run_until_one_lives

_RULES = DecodingRules(flush_after_ms=500, stall_after_ms=500)
_MOST_DEATHS = 9


def _causes(world: World) -> dict[str, set[str]]:
    return {name: {one.cause for one in found} for name, found in by_session(world.segments()).items()}


def _live_on(world: World, *, meanwhile: Callable[[int], None] = lambda _: None) -> int:
    """Let workers die until one lives, and have that one drain; return how many died."""
    died, worker = run_until_one_lives(world, turns=300, meanwhile=meanwhile)
    worker.worker.drain()
    return died


def test_a_silence_flush_that_kills_the_process_goes_out_unlabelled_and_everybody_else_is_labelled() -> None:
    world = World(rules=_RULES)
    quiet = ["ann", "cy", "dee", "eve"]
    world.send(*(event(name, 0, "we", "wait") for name in quiet[:2]), event("ben", 0, "a", DEADLY))
    world.send(*(event(name, 0, "we", "wait") for name in quiet[2:]))
    assert 3 <= _live_on(world) <= _MOST_DEATHS
    assert said(by_session(world.segments())["ben"]) == ["a", DEADLY]
    assert _causes(world) == {"ben": {Cause.FALLBACK}} | {name: {Cause.SILENCE} for name in quiet}
    assert world.records("asr.words.dead") == []


@pytest.mark.parametrize("crowd", [1, 40])
def test_the_same_where_others_speak_on_and_their_records_make_it_due(crowd: int) -> None:
    world = World(rules=_RULES)
    names = [f"ann-{number}" for number in range(crowd)]
    world.send(event("ben", 0, "a", DEADLY), *(event(name, 0, "we", "wait") for name in names))

    def speak_on(died: int) -> None:
        world.clock.pass_s(0.7)
        world.send(*(event(name, died + 1, "we", "speak", "on") for name in names))

    assert 3 <= _live_on(world, meanwhile=speak_on) <= _MOST_DEATHS
    causes = _causes(world)
    assert causes.pop("ben") == {Cause.FALLBACK}
    assert not set().union(*causes.values()) & {Cause.FALLBACK}
    assert sorted(causes) == sorted(names)


def test_the_worker_that_contained_it_goes_on_as_ever() -> None:
    world = World(rules=_RULES)
    world.send(event("ben", 0, "a", DEADLY))
    _live_on(world)
    worker = world.worker(7, engine=DeadlyEngine())
    world.send(event("ben", 1, "and", "on"), event("ann", 0, "we", "wait"))
    worker.turn(300)
    found = by_session(world.segments())
    assert said(found["ben"]) == ["a", DEADLY, "and", "on"]
    assert [one.cause for one in found["ben"]] == [Cause.FALLBACK, Cause.SILENCE]
    assert [one.cause for one in found["ann"]] == [Cause.SILENCE]
