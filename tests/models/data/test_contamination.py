from __future__ import annotations

from caesura.models.data.contamination import SharedText

TEST = [f"word{k}" for k in range(40)]


def test_distinct_twelve_grams_shared_with_a_test_set_are_counted_once() -> None:
    tests = SharedText([TEST])
    assert tests.shared(["before", *TEST[3:18], "after"]) == 4
    assert tests.shared(TEST[3:18] * 3) == 4


def test_eleven_words_in_common_are_no_overlap() -> None:
    assert SharedText([TEST]).shared(["x", *TEST[:11], "y"]) == 0
