"""Numbers as they are spoken: amounts, digit strings, ordinals, years and dates among words, in English and Chinese.

    >>> number_spans("born on august fourth two thousand and two".split())
    [NumberSpan(begin=2, end=8, kind=<NumberKind.DATE: 'date'>, value='2002-08-04')]

``english_numbers`` and ``chinese_numbers`` read them; here English ones are put together to years, digit
strings and dates. Words of both languages may stand in one text.

Rules:

1. Spans are in order, do not overlap and are as long as they can be.
2. ``DIGITS`` are two or more digits one after another, with "oh" for zero and "double" or "triple" before a digit; or
   a digit and a number of two ("two twenty two").
3. ``YEAR``: two numbers that are said as a year ("nineteen eighty four", "twenty oh five"), 二零二四年.
4. ``DATE``: a month with a day, a year or both, in either order ("the fourth of august"), 八月四号.
5. value: digits as they are written ("647", "103.4", "0772"), of an ordinal without its ending; of a date
   ``YYYY-MM-DD``, without what is not said (``--08-04``, ``2002-08``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from caesura.worker.core.numbers.chinese_numbers import chinese_numbers, is_chinese_number
from caesura.worker.core.numbers.english_numbers import english_numbers, is_english_number, numbered
from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan

__all__ = ["MONTHS", "TIMES", "NumberKind", "NumberSpan", "is_number_word", "number_spans"]

TIMES = {"double": 2, "triple": 3}
MONTHS = numbered("january february march april may june july august september october november december")
_BEGINNINGS = frozenset((*TIMES, *MONTHS))
_MAX_DAY, _YEARS = 31, range(1000, 2200)
_MIN_ENDING, _MAX_ENDING, _CENTURIES = 10, 99, range(13, 22)
_MOST_ZEROS = 32
"""More of them before another digit are no digit string: each word of them would be a new beginning."""


@lru_cache(maxsize=2**14)
def is_number_word(word: str) -> bool:
    """Tell whether a word (a model's view) says a number or a part of one: "forty", "42", 三十, 第三, 一个."""
    return is_english_number(word) or is_chinese_number(word)


def number_spans(words: Sequence[str]) -> list[NumberSpan]:
    """Find the numbers among words, each a model's view (folded, without outer marks)."""
    atoms = english_numbers(words)
    composed = _composed(words, atoms) if atoms else ()
    return sorted([*composed, *chinese_numbers(words)], key=lambda span: span.begin)


def _composed(words: Sequence[str], atoms: Sequence[NumberSpan]) -> Iterator[NumberSpan]:
    """Put numbers together that are said one behind the other: dates first, then years, then digit strings."""
    place, at = 0, {span.begin: number for number, span in enumerate(atoms)}
    while place < len(words):
        if place not in at and words[place] not in _BEGINNINGS:
            place += 1
            continue
        span = _date(words, atoms, at, place) or _year(words, atoms, at, place) or _digits(words, atoms, at, place)
        if span is None and place in at and atoms[at[place]].kind is not NumberKind.DIGITS:
            span = atoms[at[place]]
        if span is not None:
            yield span
        place = place + 1 if span is None else span.end


def _atom(atoms: Sequence[NumberSpan], at: dict[int, int], place: int) -> NumberSpan | None:
    return atoms[at[place]] if place in at else None


def _digits(words: Sequence[str], atoms: Sequence[NumberSpan], at: dict[int, int], begin: int) -> NumberSpan | None:
    place, value, zeros = begin, "", True
    while place < len(words) and not (zeros and place - begin >= _MOST_ZEROS):
        times = TIMES.get(words[place], 1)
        atom = _atom(atoms, at, place + (times > 1))
        if atom is None or atom.end != atom.begin + 1 or len(atom.value) != 1 or atom.kind is NumberKind.ORDINAL:
            break
        value += atom.value * times
        zeros = zeros and atom.value == "0"
        place = atom.end
    if len(value) == 1 and value != "0" and place in at and atoms[at[place]].end not in at:
        tens = atoms[at[place]]  # "two twenty two": a time, a room, a pressure
        written = {word.isdecimal() for word in words[begin : tens.end]}
        if len(written) == 1 and tens.kind is NumberKind.CARDINAL and _MIN_ENDING <= int(tens.value) <= _MAX_ENDING:
            return NumberSpan(begin, tens.end, NumberKind.DIGITS, value + tens.value)
    return NumberSpan(begin, place, NumberKind.DIGITS, value) if len(value) > 1 and value.strip("0") else None


def _year(words: Sequence[str], atoms: Sequence[NumberSpan], at: dict[int, int], begin: int) -> NumberSpan | None:
    """Return a year that is said as two numbers of two digits; one that is written in digits is one word."""
    century = _atom(atoms, at, begin)
    if words[begin : begin + 1] and words[begin].isdecimal():
        return None
    if century is None or century.kind is not NumberKind.CARDINAL or int(century.value) not in _CENTURIES:
        return None
    rest = _atom(atoms, at, century.end)
    if rest is None:
        return None
    if rest.kind is NumberKind.CARDINAL and _MIN_ENDING <= int(rest.value) <= _MAX_ENDING:
        return NumberSpan(begin, rest.end, NumberKind.YEAR, century.value + rest.value)
    last = _atom(atoms, at, rest.end)
    if (
        rest.kind is NumberKind.DIGITS
        and last is not None
        and last.kind is NumberKind.CARDINAL
        and len(last.value) == 1
    ):
        return NumberSpan(begin, last.end, NumberKind.YEAR, f"{century.value}0{last.value}")
    return None


def _date(words: Sequence[str], atoms: Sequence[NumberSpan], at: dict[int, int], begin: int) -> NumberSpan | None:
    """Return a date that begins at a word: month, day, year, or the day first."""
    month, end, day = MONTHS.get(words[begin]), begin + 1, ""
    if month is None:
        if (first := _day(words, atoms, at, begin)) is None:
            return None
        end = first.end + (list(words[first.end : first.end + 1]) == ["of"])
        month = MONTHS.get(words[end]) if end < len(words) else None
        if month is None or (end == first.end and first.kind is NumberKind.CARDINAL and words[end] in ("may", "march")):
            return None
        day, end = first.value, end + 1
    elif found := _day(words, atoms, at, end + (list(words[end : end + 1]) == ["the"])):
        day, end = found.value, found.end
    year = _year(words, atoms, at, end) or _whole_year(atoms, at, end)
    if not day and year is None:
        return None
    date = f"{month:02}" + (f"-{int(day):02}" if day else "")
    return NumberSpan(
        begin, end if year is None else year.end, NumberKind.DATE, f"{year.value if year else '-'}-{date}"
    )


def _day(words: Sequence[str], atoms: Sequence[NumberSpan], at: dict[int, int], place: int) -> NumberSpan | None:
    atom = _atom(atoms, at, place)
    if atom is None or atom.kind not in (NumberKind.ORDINAL, NumberKind.CARDINAL) or _year(words, atoms, at, place):
        return None
    return atom if 1 <= int(atom.value) <= _MAX_DAY else None


def _whole_year(atoms: Sequence[NumberSpan], at: dict[int, int], place: int) -> NumberSpan | None:
    atom = _atom(atoms, at, place)
    return atom if atom and atom.kind is NumberKind.CARDINAL and int(atom.value) in _YEARS else None
