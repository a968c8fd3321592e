"""The words of a hypothesis that were not sent yet are found, and never with more work than its words are worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.feeds.sent_words import MAX_EDITS, after_sent, words_alike


class Compared(str):
    """A word that counts how often such words are compared, and stops where that is too often."""

    __slots__ = ()
    times = 0
    most = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        assert Compared.times <= Compared.most
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def compared(*texts: str, most: int) -> list[str]:
    Compared.times, Compared.most = 0, most
    return [Compared(text) for text in texts]


def plainly(sent: list[str], texts: list[str]) -> tuple[int, int]:
    """Return the same by the whole table of edit distances."""
    row = list(range(len(texts) + 1))
    for count, one in enumerate(sent, start=1):
        above, row = row, [count]
        for position, other in enumerate(texts):
            row.append(min(above[position] + (one != other), above[position + 1] + 1, row[position] + 1))
    begin = min(range(len(row)), key=lambda length: (row[length], abs(length - len(sent))))
    return begin, row[begin]


_TEXTS = st.lists(st.sampled_from("abc"), max_size=14)


@given(sent=_TEXTS, texts=_TEXTS)
def test_the_place_and_the_edits_are_those_of_the_whole_table(sent: list[str], texts: list[str]) -> None:
    assert after_sent(sent, texts) == plainly(sent, texts)


@given(
    alike=st.integers(0, 300),
    sent=st.lists(st.sampled_from("ab"), max_size=MAX_EDITS),
    texts=st.lists(st.sampled_from("ab"), max_size=MAX_EDITS),
)
def test_what_follows_a_long_beginning_that_is_alike_is_matched_exactly(
    alike: int, sent: list[str], texts: list[str]
) -> None:
    begin, edits = plainly(sent, texts)
    assert after_sent(["x"] * alike + sent, ["x"] * alike + texts) == (alike + begin, edits)


@given(texts=_TEXTS, others=st.lists(_TEXTS, max_size=3))
def test_words_are_alike_up_to_the_first_that_is_not(texts: list[str], others: list[list[str]]) -> None:
    lengths = range(len(texts) + 1)
    assert words_alike(texts, *others) == max(n for n in lengths if all(texts[:n] == one[:n] for one in others))


def test_words_that_agree_are_compared_once_each() -> None:
    several = [compared(*map(str, range(3000)), most=2 * 3000) for _ in range(3)]
    assert words_alike(*several) == 3000


def test_a_few_changes_in_a_long_utterance_cost_a_few_times_its_words() -> None:
    said = [str(number) for number in range(3000)]
    sent = compared(*said, most=6 * 3000)
    assert after_sent(sent, [*said[:100], "um", *said[100:], "yes"]) == (3001, 1)


@pytest.mark.parametrize(
    ("sent", "texts"),
    [
        ([str(number) for number in range(3900)], ["b"] * 20_000),
        (["x", *["a"] * 20_000], ["y", "y", "y", *["a"] * 20_000]),
        (["x", *["a", "b"] * 10_000], ["y", *["b", "a", "a"] * 10_000]),
        (["a"] * 200_001, ["b"] * 200_001),
    ],
)
def test_the_most_unlike_words_are_compared_no_more_often_than_is_said(sent: list[str], texts: list[str]) -> None:
    begin, edits = after_sent(compared(*sent, most=600_000 + 2 * len(sent)), texts)
    assert 0 < begin <= len(texts)
    assert edits <= len(sent)


def test_of_words_too_unlike_to_be_matched_each_is_taken_for_the_one_in_its_place() -> None:
    other = [f"other {number}" for number in range(200)]
    assert after_sent([str(number) for number in range(100)], other) == (100, 100)
    assert after_sent([str(number) for number in range(300)], other) == (200, 300)
