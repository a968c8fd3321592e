"""What Redis loses in part, alone and before a crash at every step: nothing of it is lost, said twice, or changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from caesura.schemas.segments import Segment
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.commit_steps import CommitStep
from tests.harness.crashing import Crash, CrashAt
from tests.harness.damages import DAMAGES
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import check_every_word_once, comparable, speech

_PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000, routes=frozenset({"de"}))
_NOON_MS = 1_700_000_000_000
_NAMES = ("ann", "ben", "cy")
_EVENTS = [one for some in zip(*(speech(name, 40) for name in _NAMES), strict=True) for one in some]
_BEFORE = 13
"""Events that are applied when the damage is done; some words are published then, others wait."""


def _turn(world: World, worker: InMemoryWorker, times: int = 60) -> None:
    for _ in range(times):
        worker.turn()
        world.clock.pass_s(0.02)


def _half_way() -> tuple[World, InMemoryWorker]:
    world = World(rules=_PATIENT)
    world.send(*_EVENTS[:_BEFORE], timestamp_ms=_NOON_MS)
    worker = world.worker(0, commit_interval_ms=10)
    _turn(world, worker)
    return world, worker


def _finish(world: World, worker: InMemoryWorker) -> None:
    _turn(world, worker, 200)
    assert worker.worker.unready() == ()
    check_every_word_once(_EVENTS, world.segments())
    assert comparable(world.segments()) == _undisturbed()
    assert world.records("asr.words.dead") == []


@cache
def _undisturbed() -> list[Segment]:
    world, worker = _half_way()
    world.send(*_EVENTS[_BEFORE:], timestamp_ms=_NOON_MS)
    _turn(world, worker, 200)
    return comparable(world.segments())


def _vanish(world: World, worker: InMemoryWorker) -> None:
    world.broker.expel("caesura", "asr.words", worker.source.member_id)


def _crash(world: World, step: CommitStep) -> None:
    """Have a worker crash at a step; one that does not come to it vanishes all the same."""
    crashing = world.worker(1, observer=CrashAt(step), commit_interval_ms=10)
    with contextlib.suppress(Crash):
        _turn(world, crashing)
    _vanish(world, crashing)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_between_two_owners_is_rebuilt_and_nothing_changes(damage: str) -> None:
    world, first = _half_way()
    first.worker.drain()
    world.redis.spoil(0, DAMAGES[damage])
    world.send(*_EVENTS[_BEFORE:], timestamp_ms=_NOON_MS)
    _finish(world, world.worker(1))


@pytest.mark.parametrize("damage", DAMAGES)
def test_redis_damage_under_a_running_owner_changes_no_output(damage: str) -> None:
    world, worker = _half_way()
    world.redis.spoil(0, DAMAGES[damage])
    world.send(*_EVENTS[_BEFORE:], timestamp_ms=_NOON_MS)
    _finish(world, worker)


def _steps() -> Iterator[object]:
    """Yield each damage with each step: by day each has a third of the steps, the next one the next third."""
    for number, damage in enumerate(DAMAGES):
        steps = list(CommitStep)
        by_day = steps[number % 3 :: 3]
        yield pytest.param(damage, by_day, id=damage)
        yield pytest.param(
            damage, [step for step in steps if step not in by_day], id=f"{damage}, other steps", marks=pytest.mark.long
        )


@pytest.mark.parametrize(("damage", "steps"), [*_steps()])
def test_a_crash_at_any_step_after_the_damage_loses_nothing(damage: str, steps: Sequence[CommitStep]) -> None:
    for step in steps:
        world, first = _half_way()
        _vanish(world, first)
        world.redis.spoil(0, DAMAGES[damage])
        _crash(world, step)
        _crash(world, step)
        world.send(*_EVENTS[_BEFORE:], timestamp_ms=_NOON_MS)
        _finish(world, world.worker(1))


def test_a_load_that_misses_sessions_and_a_crash_after_it_lose_nothing() -> None:
    for step in CommitStep:
        world, first = _half_way()
        _vanish(world, first)
        world.redis.unseen = {"ann"}
        _crash(world, step)
        world.send(*_EVENTS[_BEFORE:], timestamp_ms=_NOON_MS)
        _finish(world, world.worker(1))
