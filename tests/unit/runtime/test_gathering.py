"""How long words wait for one another: until a batch is full, the first has waited enough, or a checkpoint is due."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.harness.speech import check_every_word_once, comparable, speech
from tests.harness.twin_world import ManualClock, World
from worker.adapters.memory.engine import ScriptedEngine
from worker.core.labelling import LabelRequest, Labels
from worker.core.rules import DecodingRules
from worker.runtime.gathering import Gathering

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
    assert not gathering.ends(0.0, 0.1)
    clock.pass_s(0.002)
    assert gathering.ends(0.0, 0.1)


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
