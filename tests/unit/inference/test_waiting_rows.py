"""Rows that wait before a layer, and those that are new to it: compiled, by NumPy, and as the words would have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from caesura.worker.inference.network.row_graphs import Arrays
from caesura.worker.inference.network.row_network import _positions
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


waiting_kernels = pytest.importorskip(
    "caesura.worker.inference.native.waiting_kernels",
    reason="nothing was compiled at installation",
    exc_type=ImportError,
)


def _rows(count: int, *, width: int = 4, kind: Any = np.float32) -> NDArray[Any]:  # noqa: ANN401
    return np.zeros((count, width), dtype=kind)


def _whole(*numbers: Any) -> NDArray[np.int32]:  # noqa: ANN401
    return np.array(numbers, dtype=np.int32)


def _given(**changed: Any) -> list[Any]:  # noqa: ANN401 - what no type allows is the point
    """Return what ``join`` is given of two sessions: one has a row that waits and two new ones, one a new one alone."""
    kept = {
        "layer": 1,
        "sessions": [[b"", bytes(16)], [b"", b""]],
        "fresh": _rows(3),
        "spans": _whole((2, 2, 1, 3), (1, 0, 0, 1)),
        "picks": None,
        "query": _rows(2),
    }
    return list((kept | changed).values())


WRONG: dict[str, dict[str, Any]] = {
    "a layer that is not there": {"layer": 2},
    "a layer below the first": {"layer": -1},
    "sessions that are no list": {"sessions": ([b"", b""], [b"", b""])},
    "a session that is no list": {"sessions": [[b"", bytes(16)], (b"", b"")]},
    "what waits is no bytes": {"sessions": [[b"", bytearray(16)], [b"", b""]]},
    "half a row": {"sessions": [[b"", bytes(8)], [b"", b""]]},
    "fewer sessions": {"sessions": [[b"", bytes(16)]]},
    "more sessions": {"sessions": [[b"", b""]] * 3},
    "rows in double precision": {"fresh": _rows(3, kind=np.float64)},
    "rows of one axis": {"fresh": np.zeros(12, dtype=np.float32)},
    "rows without width": {"fresh": _rows(3, width=0), "query": _rows(2, width=0)},
    "rows that do not lie together": {"fresh": _rows(3, width=8)[:, ::2]},
    "an answer of another width": {"query": _rows(2, width=5)},
    "an answer that cannot be written": {"query": memoryview(bytes(32)).cast("f", [2, 4])},
    "an answer with too little room": {"query": _rows(1)},
    "an answer with too much room": {"query": _rows(3)},
    "more new rows than there are": {"fresh": _rows(2)},
    "fewer new rows than there are": {"fresh": _rows(4)},
    "fewer new rows than none": {"spans": _whole((-1, 2, 1, 3), (1, 0, 0, 1))},
    "fewer asked than none": {"spans": _whole((2, -1, 1, 3), (1, 0, 0, 1))},
    "more asked than there are": {"spans": _whole((2, 0, 1, 3), (1, 2, 0, 1))},
    "waiting from before the first": {"spans": _whole((2, 2, -1, 3), (1, 0, 0, 1))},
    "waiting up to beyond the last": {"spans": _whole((2, 2, 1, 4), (1, 0, 0, 1))},
    "waiting from behind where it ends": {"spans": _whole((2, 2, 3, 2), (1, 0, 0, 1))},
    "spans of three numbers": {"spans": _whole((2, 2, 1), (1, 0, 0))},
    "spans in fractions": {"spans": np.zeros((2, 4), dtype=np.float32)},
    "picks in fractions": {"picks": np.zeros(2, dtype=np.float32)},
    "fewer picks than are asked": {"picks": _whole(0)},
    "a pick that is not there": {"picks": _whole(0, 3)},
    "a pick below the first": {"picks": _whole(-1, 0)},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_and_never_read(wrong: str) -> None:
    waiting_kernels.join(*_given())
    waiting_kernels.join(*_given(picks=_whole(2, 0)))
    with pytest.raises((ValueError, TypeError, IndexError, BufferError)):
        waiting_kernels.join(*_given(**WRONG[wrong]))


SHIPPED = (1, 1, 1, 2, 2, 2)
look_aheads = st.lists(st.integers(0, 3), min_size=1, max_size=6)
pieces = st.lists(st.integers(1, 4), min_size=1, max_size=60)


def rows(pieces_of: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return (ends, word_of) of words with so many pieces each, behind the leading piece."""
    ends, word_of = [1], [0]
    for word, count in enumerate(pieces_of, start=1):
        word_of += [word] * count
        ends.append(len(word_of))
    return ends, word_of


def a_plan(look_ahead: Sequence[int], words: int, done: int | None, first: int, end: int) -> Step:
    step = plan(look_ahead, *rows([1] * words), done_words=done, first=first, end=end)
    assert step is not None
    return step


def test_layer_rows_of_a_step_of_three_words_are_those_of_the_design() -> None:
    assert a_plan(SHIPPED, 33, 30, 21, 24).layer_rows == 18
    assert a_plan(SHIPPED, 33, 30, 24, 27).layer_rows + 3 == 33, "the three settled words' last layer besides"
    assert a_plan((1,) * 6, 33, 30, 24, 27).layer_rows == 18, "no tail where T is L"


@given(look_ahead=look_aheads, pieces_of=pieces, data=st.data())
def test_each_final_row_of_a_layer_is_computed_once(
    look_ahead: list[int], pieces_of: list[int], data: st.DataObject
) -> None:
    ends, word_of = rows(pieces_of)
    done: int | None = None
    computed = [0] * len(look_ahead)
    for words in sorted({*data.draw(st.sets(st.integers(1, len(pieces_of)))), len(pieces_of)}):
        size = ends[words]
        step = plan(look_ahead, ends[: words + 1], word_of[:size], done_words=done, first=words - 1, end=words)
        assert step is not None
        for k in range(len(look_ahead)):
            first, stop = step.computed[k]
            assert first == computed[k], "a layer goes on where its final rows ended"
            assert step.final[k] <= stop <= size
            computed[k] = step.final[k]
        done = words
    assert computed[0] == ends[-1]


@given(look_ahead=look_aheads, pieces_of=pieces, data=st.data())
def test_a_row_sees_the_words_that_the_mask_shows_it_and_its_keys_are_all_there(
    look_ahead: list[int], pieces_of: list[int], data: st.DataObject
) -> None:
    ends, word_of = rows(pieces_of)
    words = len(pieces_of)
    end = data.draw(st.integers(1, words))
    first = data.draw(st.integers(0, end - 1))
    back = data.draw(st.none() | st.integers(1, 70), label="look_back")
    step = plan(look_ahead, ends, word_of, done_words=None, first=first, end=end, look_back=back)
    assert step is not None
    assert step.wanted == tuple(ends[word] - 1 for word in range(first + 1, end + 1))
    for k, further in enumerate(look_ahead, start=1):
        asked = step.wanted if k == len(look_ahead) else tuple(range(*step.computed[k]))
        for row, visible, since in zip(asked, step.visible[k], step.since[k], strict=True):
            assert visible == ends[min(word_of[row] + further, words)]
            assert visible <= step.computed[k - 1][1], "what it sees has been computed below"
            least = 0 if back is None else word_of[row] - back
            seen = [other for other in range(visible) if word_of[other] >= least or other == 0]
            assert [0, *range(since, visible)] == seen
        if step.sees_as_before[k]:
            assert (step.visible[k], step.since[k]) == (step.visible[k - 1], step.since[k - 1])


def test_layers_without_more_look_ahead_reuse_the_layer_belows_range() -> None:
    step = a_plan((1, 1, 1, 0, 0, 0), 33, 30, 27, 30)
    told = (False, False, False, False, False, True, False)
    assert step.sees_as_before == told, "the last one has the wanted words alone"


@given(look_ahead=look_aheads, words=st.integers(1, 60), more=st.integers(1, 9), back=st.integers(1, 30))
def test_no_later_step_looks_at_a_row_that_was_not_needed(
    look_ahead: list[int], words: int, more: int, back: int
) -> None:
    ends, word_of = rows([2] * (words + more))
    size = ends[words]
    step = plan(look_ahead, ends[: words + 1], word_of[:size], done_words=None, first=0, end=words, look_back=back)
    assert step is not None
    first = max(0, words - sum(look_ahead))
    later = plan(look_ahead, ends, word_of, done_words=words, first=first, end=words + more, look_back=back)
    assert later is not None
    assert step.needed == min(min(since) for since in later.since[1:] if since)


@given(look_ahead=look_aheads, words=st.integers(2, 40), data=st.data())
def test_a_wanted_word_whose_row_is_gone_has_no_plan(look_ahead: list[int], words: int, data: st.DataObject) -> None:
    done = data.draw(st.integers(1, words - 1))
    first = data.draw(st.integers(0, words - 1))
    found = plan(look_ahead, *rows([1] * words), done_words=done, first=first, end=words)
    assert (found is None) == (first < done - sum(look_ahead))


def sinusoidal(width: int) -> Arrays:
    rng = np.random.default_rng(width)
    rate = np.exp(np.arange(0, width, 2) * (-np.log(10_000.0) / width)).astype(np.float32)
    return {
        "positions.rate": np.repeat(rate, 2),
        "positions.even": np.arange(width) % 2 == 0,
        "positions.map": np.asarray(rng.normal(0.0, 0.05, (width, width)), dtype=np.float32),
        "positions.centre": np.zeros(width, dtype=np.float32),
    }


@pytest.mark.parametrize("width", [64, 384])
def test_sinusoidal_positions_equal_those_of_the_stored_graph(width: int) -> None:
    arrays = sinusoidal(width)
    encoding = np.concatenate([_positions(arrays)(first) for first in (0, 512)])
    angles = np.arange(1024, dtype=np.float32)[:, None] * arrays["positions.rate"].astype(np.float32)
    whole = np.where(arrays["positions.even"], np.sin(angles), np.cos(angles)) @ arrays["positions.map"]
    assert np.allclose(encoding, whole, atol=1e-4)


def test_learned_positions_repeat_the_last_learned_one() -> None:
    table = np.arange(600, dtype=np.float32)[:, None] * np.ones(64, dtype=np.float32)
    encoding = np.concatenate([_positions({"positions.table": table})(first) for first in (0, 512)])
    assert (encoding[:600] == table).all()
    assert (encoding[600:] == table[-1]).all()
