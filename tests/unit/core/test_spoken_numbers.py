"""Spans of spoken numbers over words: every number that is said is found whole, with its value."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.numbers.spoken_numbers import NumberKind, is_number_word, number_spans
from tests.unit.core.spoken import MONTHS, UNITS, chinese, english, ordinal, values, year

BEFORE, BEHIND = ["we", "counted"], ["boats", "there"]


def found(words: list[str]) -> list[tuple[str, str, str]]:
    return [(" ".join(words[span.begin : span.end]), span.kind.value, span.value) for span in number_spans(words)]


@given(value=values, links=st.booleans())
def test_every_english_number_is_one_span_with_its_value(value: int, *, links: bool) -> None:
    said = english(value, links=links)
    (span,) = number_spans([*BEFORE, *said, *BEHIND])

    assert (span.begin, span.end) == (2, 2 + len(said))
    expected = NumberKind.YEAR if span.kind is NumberKind.YEAR else NumberKind.CARDINAL
    assert (span.kind, span.value) == (expected, str(value))
    assert all(is_number_word(word) or word == "and" for word in said)


@given(day=st.integers(1, 31), month=st.integers(1, 12), said=st.integers(1000, 2099), first=st.booleans())
def test_every_date_is_one_span(day: int, month: int, said: int, *, first: bool) -> None:
    name = MONTHS[month - 1]
    words = [*ordinal(day), "of", name, *year(said)] if first else [name, *ordinal(day), *year(said)]
    (span,) = number_spans(["on", *words, *BEHIND])

    assert (span.begin, span.end, span.kind) == (1, 1 + len(words), NumberKind.DATE)
    assert span.value == f"{said}-{month:02}-{day:02}"


@given(digits=st.lists(st.integers(0, 9), min_size=2, max_size=12).filter(any))
def test_every_digit_string_is_one_span(digits: list[int]) -> None:
    words = ["oh" if not digit else UNITS[digit] for digit in digits]

    assert found(["code", *words, *BEHIND]) == [(" ".join(words), "digits", "".join(map(str, digits)))]


@given(value=st.integers(0, 10**8 - 1), cuts=st.sets(st.integers(1, 20)))
def test_every_chinese_number_is_one_span_however_its_words_are_cut(value: int, cuts: set[int]) -> None:
    said = chinese(value)
    edges = [0, *sorted(cut for cut in cuts if cut < len(said)), len(said)]
    words = [said[begin:end] for begin, end in pairwise(edges)]
    (span,) = number_spans(["有", *words, "人"])

    assert (span.begin, span.value) == (1, str(value))
    assert span.end in (1 + len(words), 2 + len(words))


@pytest.mark.parametrize(
    ("said", "spans"),
    [
        ("ring oh six double one four", [("oh six double one four", "digits", "06114")]),
        ("gate two twenty two", [("two twenty two", "digits", "222")]),
        ("four point two five", [("four point two five", "decimal", "4.25")]),
        ("a hundred and six", [("a hundred and six", "cardinal", "106")]),
        ("from ten to twelve", [("ten", "cardinal", "10"), ("twelve", "cardinal", "12")]),
        ("two hundred and three hundred", [("two hundred", "cardinal", "200"), ("three hundred", "cardinal", "300")]),
        ("the twenty third", [("twenty third", "ordinal", "23")]),
        ("may the fourth", [("may the fourth", "date", "--05-04")]),
        ("in nineteen oh six", [("nineteen oh six", "year", "1906")]),
        ("17 or 3.5 or the 2nd", [("17", "cardinal", "17"), ("3.5", "decimal", "3.5"), ("2nd", "ordinal", "2")]),
        ("oh you may march on", []),
        ("在 二零一九 年 三月 八号", [("二零一九 年 三月 八号", "date", "2019-03-08")]),
        ("两万五", [("两万五", "cardinal", "25000")]),
        ("第十二 层 三点 五", [("第十二", "ordinal", "12"), ("三点 五", "decimal", "3.5")]),
        ("电话 是 一三八", [("一三八", "digits", "138")]),
        ("一起 走 万一", []),
    ],
)
def test_what_is_a_number(said: str, spans: list[tuple[str, str, str]]) -> None:
    assert found(said.split()) == spans


@given(
    words=st.lists(
        st.sampled_from([*english(1_284_617, links=True), "oh", "point", "a", "may", "第", "三十", "万", "号"])
    )
)
def test_spans_are_in_order_and_do_not_overlap(words: list[str]) -> None:
    end = 0
    for span in number_spans(words):
        assert end <= span.begin < span.end <= len(words)
        end = span.end
