"""What a step computes: every row that is needed, none of them twice, and nothing that could still change is kept."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.inference.schedule.row_schedule import Step, plan

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
def test_each_final_row_of_a_layer_is_computed_once_however_the_words_are_grouped(
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


def test_layers_that_look_no_further_ahead_are_seen_from_as_the_one_before() -> None:
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
