"""Rows that wait before a layer, and those that are new to it: compiled, by NumPy, and as the words would have it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.inference.schedule.batch_plan import StepRequest, plan_batch
from caesura.worker.inference.schedule.row_schedule import Step, plan
from caesura.worker.inference.schedule.waiting_rows import COMPILED, WaitingRows

_WIDTH = 6
_TURNS = st.lists(st.tuples(st.lists(st.integers(1, 3), max_size=5), st.integers(0, 4)), min_size=1, max_size=6)
"""What a session says, step by step: of each word how many pieces it has; and how many words behind are not wanted."""


class _Session:
    """A session whose rows are numbers: layer, row and session."""

    def __init__(self, number: int, turns: list[tuple[list[int], int]]) -> None:
        self.number, self.turns = number, turns
        self.ends, self.word_of = [1], [0]
        self.done_words: int | None = None

    def step(self, look_ahead: list[int], words: list[int], behind: int) -> tuple[StepRequest, Step]:
        for pieces in words:
            self.word_of += [len(self.ends)] * pieces
            self.ends.append(len(self.word_of))
        first = max(0, (self.done_words or 0) - sum(look_ahead))  # what was in the tail is wanted again
        end = max(first, len(self.ends) - 1 - behind)
        asked = StepRequest(self.ends, self.word_of, self.done_words, first, end)
        planned = plan(look_ahead, self.ends, self.word_of, done_words=self.done_words, first=first, end=end)
        assert planned is not None
        self.done_words = len(self.ends) - 1
        return asked, planned

    def rows(self, layer: int, places: range | tuple[int, ...]) -> list[list[float]]:
        return [[float(layer), float(row), float(self.number)] + [0.5] * (_WIDTH - 3) for row in places]


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.lists(_TURNS, min_size=1, max_size=3))
def test_each_layer_asks_the_rows_that_the_plan_says_whatever_has_waited(
    compiled: bool,
    look_ahead: list[int],
    spoken: list[list[tuple[list[int], int]]],
) -> None:
    if compiled and not COMPILED:
        pytest.skip("nothing was compiled at installation")
    sessions = [_Session(number, turns) for number, turns in enumerate(spoken)]
    kept: dict[int, list[bytes]] = {one.number: [b""] * len(look_ahead) for one in sessions}
    for turn in range(max(len(one.turns) for one in sessions)):
        speaking = [one for one in sessions if turn < len(one.turns)]
        asked_for, steps = zip(*[one.step(look_ahead, *one.turns[turn]) for one in speaking], strict=True)
        planned = plan_batch(tuple(look_ahead), None, asked_for, compiled=compiled)
        waiting = WaitingRows(look_ahead, planned, [kept[one.number] for one in speaking], compiled=compiled)
        for k in range(len(look_ahead)):
            fresh, asked = [], []
            for one, step in zip(speaking, steps, strict=True):
                fresh += one.rows(k, range(*step.computed[k]))
                last = k == len(look_ahead) - 1
                asked += one.rows(k, step.wanted if last else range(*step.computed[k + 1]))
            joined = waiting.join(k, np.array(fresh, dtype=np.float32).reshape(-1, _WIDTH))
            assert joined.tolist() == asked
            for one, step in zip(speaking, steps, strict=True):
                left = np.frombuffer(kept[one.number][k], dtype=np.float32).reshape(-1, _WIDTH)
                assert left.tolist() == one.rows(k, range(step.final[k + 1], step.final[k]))
