"""How long words wait for one another: until a batch is full, the first has waited enough, or a checkpoint is due."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest

from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.broker import MemoryMembership
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.runtime.loop.gathering import Gathering
from tests.harness.in_memory_world import ManualClock, World
from tests.harness.speech import check_every_word_once, comparable, speech

_PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)
_TALKS = [speech(name, 30, a_time=3) for name in ("ann", "ben", "cy", "dee", "eve")]


class _CountingEngine(ScriptedEngine):
    """Counts the sessions of each pass."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.sizes.append(len(requests))
        return super().label(requests)


class _TimedEngine(ScriptedEngine):
    """Notes when each pass begins."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock
        self.passes_s: list[float] = []

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.passes_s.append(self._clock.monotonic_s())
        return super().label(requests)


def _gathering(longest_s: float = 0.1) -> tuple[Gathering, ManualClock]:
    clock = ManualClock()
    return Gathering(clock=clock, most_records=8, longest_s=longest_s), clock


def test_the_first_to_come_waits_no_longer_than_it_is_told() -> None:
    gathering, clock = _gathering()
    assert not gathering.is_over(1, at_most=100)
    clock.pass_s(0.06)
    assert not gathering.is_over(2, at_most=100)
    clock.pass_s(0.06)
    assert gathering.is_over(0, at_most=100)
    gathering.labelled(took_s=0.01)
    assert not gathering.is_over(0, at_most=100), "nothing waits"
    assert not gathering.is_over(1, at_most=100), "who comes now has not waited yet"


@pytest.mark.parametrize(("most", "at_most"), [(8, 100), (3, 3)])
def test_a_full_batch_or_a_full_turn_waits_for_nothing(most: int, at_most: int) -> None:
    gathering, _ = _gathering()
    assert not gathering.is_over(most - 1, at_most=at_most)
    assert gathering.is_over(1, at_most=at_most)


def test_who_may_not_wait_is_labelled_at_once() -> None:
    gathering, _ = _gathering(longest_s=0.0)
    assert gathering.is_over(1, at_most=100)


@pytest.mark.parametrize(("took_s", "begins_s"), [(0.0, 0.1), (0.03, 0.07), (5.0, 0.05)])
def test_labelling_begins_so_early_that_the_checkpoint_is_in_time(took_s: float, begins_s: float) -> None:
    gathering, clock = _gathering()
    gathering.labelled(took_s=took_s)
    clock.pass_s(begins_s - 0.001)
    assert gathering.left_s(0.0, 0.1) > 0
    clock.pass_s(0.002)
    assert gathering.left_s(0.0, 0.1) < 0


def _spoken(gather_ms: int) -> tuple[World, list[int]]:
    """Let five sessions speak by turns, one event a turn of the loop."""
    world, engine = World(rules=_PATIENT), _CountingEngine()
    worker = world.worker(engine=engine, gather_ms=gather_ms)
    worker.turn(3)
    for together in zip(*_TALKS, strict=True):
        for one in together:
            world.send(one, timestamp_ms=world.clock.wall_ms())
            worker.turn()
    worker.settle()
    check_every_word_once([one for talk in _TALKS for one in talk], world.segments())
    return world, engine.sizes


def test_words_that_come_one_after_another_are_labelled_together_and_say_the_same() -> None:
    (alone, one_by_one), (together, gathered) = _spoken(0), _spoken(100)
    assert comparable(together.segments()) == comparable(alone.segments())
    assert max(one_by_one) == 1
    assert sum(gathered) == sum(one_by_one)
    assert len(gathered) <= len(one_by_one) / 3


def _live(
    gather_ms: int, *, every_s: float = 0.01, commit_interval_ms: int = 100
) -> tuple[World, list[float], list[float]]:
    """Let a session say a hundred events, one after another; return when turns began, and when passes."""
    world, turns_s = World(rules=_PATIENT), list[float]()
    engine = _TimedEngine(world.clock)
    worker = world.worker(engine=engine, gather_ms=gather_ms, commit_interval_ms=commit_interval_ms)
    worker.turn(3)
    began_s = world.clock.monotonic_s()
    talk = speech("ann", 300, a_time=3)
    waiting = [(began_s + every_s * place, event) for place, event in enumerate(talk)]
    end_s = waiting[-1][0] + 1.0

    def stopping() -> bool:
        turns_s.append(world.clock.monotonic_s())
        while waiting and waiting[0][0] <= turns_s[-1]:
            world.send(waiting.pop(0)[1], timestamp_ms=world.clock.wall_ms())
        return turns_s[-1] > end_s

    worker.worker.run(stopping)
    check_every_word_once(talk, world.segments())
    return world, turns_s, engine.passes_s


def test_between_two_checkpoints_the_loop_rests_and_says_the_same() -> None:
    (hasty, many, _), (rested, few, _) = _live(0), _live(100)
    assert comparable(rested.segments()) == comparable(hasty.segments())
    assert len(few) < 0.8 * len(many)


@pytest.mark.parametrize(("gather_ms", "every_s"), [(100, 0.01), (4_000, 0.01), (4_000, 0.3)])
def test_however_long_words_may_wait_they_are_labelled_for_the_next_checkpoint(gather_ms: int, every_s: float) -> None:
    _, _, passes_s = _live(gather_ms, every_s=every_s)
    times_s = sorted({round(at_s, 6) for at_s in passes_s})[:8]
    assert len(times_s) == 8
    between_s = [later - earlier for earlier, later in pairwise(times_s)]
    assert max(between_s) < 0.13 + every_s, "an interval, a turn that reads what has changed, and the next event"


def test_rebalances_timers_and_answers_are_looked_for_however_far_off_a_checkpoint_is() -> None:
    _, turns_s, _ = _live(4_000, commit_interval_ms=4_000)
    assert max(later - earlier for earlier, later in pairwise(turns_s)) < 0.05


def test_a_backlog_is_read_without_rest() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(gather_ms=100, max_poll_records=1)
    worker.turn(3)
    talk = speech("ann", 150, a_time=3)
    for event in talk:
        world.send(event, timestamp_ms=world.clock.wall_ms())
    began_s = world.clock.monotonic_s()
    ended: list[float] = []

    def stopping() -> bool:
        if not ended and sum(len(one.words) for one in world.segments()) == 150:
            ended.append(world.clock.monotonic_s())
        return bool(ended) or world.clock.monotonic_s() > began_s + 60

    worker.worker.run(stopping)
    check_every_word_once(talk, world.segments())
    assert ended[0] - began_s < len(talk) * 0.005


def test_who_is_a_member_no_longer_is_unready_within_a_tenth_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    worker.settle()
    assert worker.worker.unready() == ()
    gone = MemoryMembership(group_id="caesura", member_id="", generation=-1)
    monkeypatch.setattr(worker.source, "membership", lambda: gone)
    world.clock.pass_s(0.11)
    assert worker.worker.unready() == ("not a member of the group yet",)


@pytest.mark.parametrize(
    ("took_s", "due_in_s", "rest_s"),
    [(0.005, math.inf, 0.02), (0.005, 0.012, 0.012), (0.03, math.inf, 0.0), (0.005, -0.1, 0.0)],
)
def test_a_turn_begins_at_its_time_or_when_a_checkpoint_is_due(took_s: float, due_in_s: float, rest_s: float) -> None:
    gathering = Gathering(clock=ManualClock(), most_records=8, longest_s=0.1, turn_s=0.025)
    assert gathering.rest_s(took_s, due_in_s) == pytest.approx(rest_s)
