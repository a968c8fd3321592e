"""A crash at each step of the commit protocol, in memory: every row of the table in docs/exactly-once.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from caesura.schemas.segments import Segment
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.commit_steps import CommitStep
from tests.crash.rows import ROWS, Fall
from tests.harness.crashing import Crash, CrashAt
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import check_every_word_once, comparable, speech

_PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000, routes=frozenset({"de"}))
_NOON_MS = 1_700_000_000_000
_EVENTS = [one for name in ("ann", "ben", "cy") for one in speech(name, 40)]
_STEPS = list(ROWS)


def test_every_step_of_the_commit_protocol_has_its_row() -> None:
    assert set(ROWS) == set(CommitStep)


@pytest.mark.parametrize("step", _STEPS)
def test_the_same_ordinal_comes_back_and_nothing_is_lost_or_said_twice(step: CommitStep) -> None:
    world = _world()
    _fall_one_after_another(world, ROWS[step], ordinals=[0] * len(ROWS[step]))
    _finish(world, world.worker(0))
    assert comparable(world.segments()) == _undisturbed(), "a crash changes no label and no cut"


@pytest.mark.parametrize("step", _STEPS)
def test_another_ordinal_waits_for_the_open_transaction_losing_nothing(step: CommitStep) -> None:
    world = _world()
    ordinals = list(range(len(ROWS[step])))
    _fall_one_after_another(world, ROWS[step], ordinals)
    successor = world.worker(len(ordinals))
    if _open(world, ordinals):
        before = len(world.segments())
        successor.turn(20)
        assert successor.worker.assignment.loaded == {} or step is CommitStep.BEGUN or step is CommitStep.PUBLISHED
        assert len(world.segments()) == before
        for ordinal in _open(world, ordinals):
            world.broker.expire_transaction(f"caesura-{ordinal}")
    _finish(world, successor)


@pytest.mark.parametrize("step", _STEPS)
def test_two_crashes_in_the_first_pass_change_no_output(step: CommitStep) -> None:
    world = _world()
    _fall_one_after_another(world, [Fall(at=step), Fall(at=step)], ordinals=[0, 0])
    _finish(world, world.worker(0))


def _world() -> World:
    world = World(rules=_PATIENT)
    world.send(*_EVENTS, timestamp_ms=_NOON_MS)
    return world


@cache
def _undisturbed() -> list[Segment]:
    world = _world()
    _finish(world, world.worker(0))
    return comparable(world.segments())


def _fall_one_after_another(world: World, falls: Sequence[Fall], ordinals: Sequence[int]) -> None:
    for fall, ordinal in zip(falls, ordinals, strict=True):
        for open_one in _open(world, [one for one in ordinals if one != ordinal]):
            world.broker.expire_transaction(f"caesura-{open_one}")
        crash = CrashAt(fall.at, fall.passes)
        fallen = world.worker(ordinal, observer=crash, max_poll_records=5, commit_interval_ms=10)
        with pytest.raises(Crash):
            _turn(world, fallen, 300)
        world.broker.expel("caesura", "asr.words", fallen.source.member_id)


def _open(world: World, ordinals: Sequence[int]) -> list[int]:
    return [one for one in ordinals if world.broker.transaction_open(f"caesura-{one}")]


def _turn(world: World, worker: InMemoryWorker, times: int) -> None:
    for _ in range(times):
        worker.turn()
        world.clock.pass_s(0.02)


def _finish(world: World, worker: InMemoryWorker) -> None:
    _turn(world, worker, 100)
    assert worker.worker.unready() == ()
    check_every_word_once(_EVENTS, world.segments())
