"""English numbers as digits: what is sure is written, and every text says the number of its words."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core.overlays.number_lines import overlays_of
from tests.unit.core.spoken import MONTHS, UNITS, english, ordinal, values, year


def digits(text: str) -> str:
    return re.sub(r"\D", "", text)


@given(value=values.filter(lambda value: value > 9), links=st.booleans())
def test_a_cardinal_is_written_with_its_value(value: int, *, links: bool) -> None:
    said = english(value, links=links)
    found = overlays_of(["we", "counted", *said, "boats"])

    scale = {"million": 10**6, "billion": 10**9}
    for overlay in found:
        number, _, word = overlay.text.partition(" ")
        assert (overlay.begin, overlay.end) == (2, 2 + len(said))
        assert int(digits(number)) * scale.get(word, 1) == value
    assert found or said[0] in ("hundred", "thousand") or len(said) == 2  # "twenty ten" may be a year


@given(value=values, before=st.booleans())
def test_a_number_that_may_go_on_beyond_the_border_stays_in_words(value: int, *, before: bool) -> None:
    said = english(value)
    words = [*said, "boats"] if before else ["we", "counted", *said]

    assert overlays_of(words, begins=not before, ends=before) == []


@given(day=st.integers(1, 31), month=st.integers(1, 12), said=st.integers(1000, 2099), first=st.booleans())
def test_a_date_is_written_with_its_day_and_year(day: int, month: int, said: int, *, first: bool) -> None:
    name = MONTHS[month - 1]
    words = [*ordinal(day), "of", name, *year(said)] if first else [name, *ordinal(day), *year(said)]
    (overlay,) = overlays_of(["on", *words, "we", "met"])

    assert (overlay.begin, overlay.end) == (1, 1 + len(words))
    assert re.findall(r"\d+", overlay.text) == [str(day), str(said)]
    assert name.title() in overlay.text


@given(hour=st.integers(1, 12), minute=st.integers(1, 59), half=st.sampled_from(["a m", "pm"]))
def test_a_time_is_written_with_its_minutes(hour: int, minute: int, half: str) -> None:
    said = [*english(hour), *(["oh"] if minute < 10 else []), *english(minute), *half.split()]
    (overlay,) = overlays_of(["we", "left", "at", *said])

    assert overlay.text == f"{hour}:{minute:02} {half.replace(' ', '').upper()}"


@given(st.lists(st.integers(0, 9), min_size=4, max_size=16).filter(any))
def test_a_code_keeps_every_digit(given_digits: list[int]) -> None:
    (overlay,) = overlays_of(["the", "code", "is", *(UNITS[digit] for digit in given_digits)])

    assert digits(overlay.text) == "".join(map(str, given_digits))
    assert (overlay.begin, overlay.end) == (3, 3 + len(given_digits))


_ANY = (
    """oh a and or to point percent dollars cents at p m hundred second third of double per cent 42 3.5 o'clock half"""
)


@given(st.lists(st.sampled_from([*english(1_284_617), *MONTHS[:6], *_ANY.split()]), max_size=14))
def test_overlays_are_in_order_and_share_no_word(words: list[str]) -> None:
    end = 0
    for overlay in overlays_of(words):
        assert end <= overlay.begin < overlay.end <= len(words)
        assert overlay.text
        end = overlay.end
