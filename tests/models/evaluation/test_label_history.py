"""The measures of stability and latency on cases small enough to count by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from caesura.models.decoding.labelled_stream import LabelledStep, Stream
from caesura.models.evaluation.label_history import (
    History,
    frozen_history,
    raw_history,
    screen_history,
    time_to_detection,
)


def growing(*labellings: list[int]) -> History:
    """Return the history of labellings that all begin at the first word."""
    return raw_history((0, labels) for labels in labellings)


def test_a_word_that_is_labelled_once_has_changed_nowhere() -> None:
    history = growing([0], [0, 1], [0, 1, 2])
    assert history.last_changes() == Counter({0: 3})
    assert history.position_changes() == Counter()
    assert history.normalised_erasure() == 0
    assert history.edit_overhead() == 0
    assert history.final == [0, 1, 2]


def test_a_change_counts_where_it_happened_and_not_where_the_word_was_heard() -> None:
    # The first word changes as the third is heard: two words stand after it. It had changed as the second was, too.
    history = growing([0], [1, 0], [2, 0, 0])
    assert history.last_changes() == Counter({2: 1, 0: 2})
    assert history.position_changes() == Counter({1: 1, 2: 1})


def test_of_words_that_change_together_the_farthest_counts_for_the_moment() -> None:
    history = growing([0, 0, 0], [1, 1, 0, 0])
    assert history.last_changes() == Counter({3: 1, 2: 1, 0: 2})
    assert history.position_changes() == Counter({3: 1})


def test_erasure_is_all_that_was_shown_from_the_first_word_that_changed() -> None:
    # Of the four words shown, the second changes: it and the two after it are erased, of five in the end.
    history = growing([0, 0, 0, 0], [0, 1, 0, 0, 0])
    assert history.normalised_erasure() == pytest.approx(3 / 5)


def test_edit_overhead_is_the_share_of_edits_beyond_one_a_word() -> None:
    history = growing([0, 0], [1, 0, 0], [2, 0, 0])
    assert history.edit_overhead() == pytest.approx(2 / 5)


def test_a_wait_ends_when_a_word_is_first_shown() -> None:
    history = growing([0, 0, 0], [0, 0, 0, 0, 0, 0])
    assert history.average_wait() == pytest.approx((2 + 1 + 0 + 2 + 1 + 0) / 6)


def test_delayed_labels_are_those_shown_so_many_words_later() -> None:
    history = growing([0], [1, 0], [2, 0, 0])
    assert history.delayed(0) == [0, 0, 0]
    assert history.delayed(1) == [1, 0, 0]
    assert history.delayed(2) == [2, 0, 0]


def test_a_word_without_a_label_yet_counts_as_unmarked() -> None:
    history = frozen_history([1, 2], [3, 3])
    assert history.delayed(0) == [0, 0]
    assert history.delayed(1) == [0, 2]
    assert history.delayed(2) == [1, 2]


def test_what_is_published_is_never_erased() -> None:
    history = frozen_history([0, 2, 1, 0], [2, 2, 4, 4])
    assert history.normalised_erasure() == 0
    assert history.edit_overhead() == 0
    assert history.last_changes() == Counter({0: 4})


def test_a_screen_shows_raw_labels_until_they_freeze() -> None:
    # The second step freezes two words; in the third the raw label of the second one is another, and is not shown.
    stream = Stream(
        marks=[1, 2, 0, 3],
        tags=[0] * 4,
        frozen_at=[3, 3, 4, 4],
        steps=[
            LabelledStep(start=0, marks=bytes([0, 2]), tags=bytes(2)),
            LabelledStep(start=0, marks=bytes([1, 2, 1]), tags=bytes(3)),
            LabelledStep(start=1, marks=bytes([0, 0, 3]), tags=bytes(3)),
        ],
    )
    history = screen_history(stream, stream.marks, lambda step: step.marks)
    assert history.shown == [[(2, 0), (3, 1)], [(2, 2)], [(3, 1), (4, 0)], [(4, 3)]]


def test_time_to_detection_begins_at_the_runs_last_word() -> None:
    # The run is words 1 and 2; the label stands on its second word when two more words have been heard.
    history = growing([0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0])
    assert time_to_detection(history, [(1, 3)], frozenset((3,))) == [3]
    assert time_to_detection(growing([0, 3, 0]), [(1, 3)], frozenset((3,))) == [0]


def test_a_run_that_is_never_found_has_no_time() -> None:
    assert time_to_detection(growing([0, 1]), [(0, 1)], frozenset((3,))) == []


def test_a_detection_that_is_taken_back_still_was_one() -> None:
    assert time_to_detection(growing([3], [0, 0]), [(0, 1)], frozenset((3,))) == [0]
