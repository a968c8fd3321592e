"""Chinese numbers as digits: what is sure is written, however its words are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core.overlays.number_lines import NumberLine, overlays_of, written
from tests.unit.core.spoken import DIGITS, chinese

_CUTS = st.sets(st.integers(1, 20))


def cut(text: str, cuts: set[int]) -> list[str]:
    edges = [0, *sorted(place for place in cuts if place < len(text)), len(text)]
    return [text[begin:end] for begin, end in pairwise(edges)]


def text_of(words: list[str]) -> str:
    return written(NumberLine("", " ".join(words), "", "zh"))


@given(value=st.integers(11, 10**8 - 1), cuts=_CUTS)
def test_a_cardinal_is_written_with_its_value(value: int, cuts: set[int]) -> None:
    said = chinese(value)
    scaled = value % 10_000 == 0
    expected = f"{value // 10_000}万" if scaled else str(value)

    assert text_of(["有", *cut(said, cuts), "人"]) == f"有{expected}人"


@given(st.lists(st.integers(0, 9), min_size=4, max_size=12).filter(any), _CUTS)
def test_a_code_keeps_every_digit(digits: list[int], cuts: set[int]) -> None:
    said = "".join(DIGITS[digit] for digit in digits)

    assert text_of(["密码", "是", *cut(said, cuts)]) == f"密码是{''.join(map(str, digits))}"


@given(year=st.integers(1000, 2199), month=st.integers(1, 12), day=st.integers(1, 31), cuts=_CUTS)
def test_a_date_is_written_with_its_numbers(year: int, month: int, day: int, cuts: set[int]) -> None:
    said = "".join(DIGITS[int(digit)] for digit in str(year)) + f"年{chinese(month)}月{chinese(day)}号"

    assert text_of(["在", *cut(said, cuts), "开会"]) == f"在{year}年{month}月{day}号开会"


@given(st.text("零一二三十百千万亿两第点分之块半年月号个几多人走", max_size=14), _CUTS)
def test_overlays_are_in_order_and_share_no_word(text: str, cuts: set[int]) -> None:
    words, end = cut(text, cuts), 0
    for overlay in overlays_of(words):
        assert end <= overlay.begin < overlay.end <= len(words)
        end = overlay.end


def test_a_number_that_may_go_on_beyond_the_border_stays_in_words() -> None:
    assert overlays_of(["有", "三十"], ends=False) == []
    assert overlays_of(["五十", "人"], begins=False) == []
    assert text_of(["八百", "人"]) == "800人"
