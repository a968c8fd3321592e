"""English numbers, each alone: "six hundred and forty seven", "twenty third", "four point two", "42", "oh".

``spoken_numbers`` puts them together to years, digit strings and dates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan


def numbered(words: str, first: int = 1, step: int = 1) -> dict[str, int]:
    """Return words with their values, which begin at ``first`` and rise by ``step``."""
    return {word: first + step * place for place, word in enumerate(words.split())}


UNITS = numbered("one two three four five six seven eight nine")
_TEENS = numbered("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10)
_TENS = numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
UNIT_ORDINALS = numbered("first second third fourth fifth sixth seventh eighth ninth")
_TEEN_ORDINALS = {
    **numbered(
        "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth", 10
    ),
    **numbered("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth", 20, 10),
}
_HUNDRED = 100
ZEROS = frozenset(("oh", "o", "zero", "nought"))
_BELOW_HUNDRED = {**UNITS, **_TEENS, **_TENS}
_ORDINALS = {**UNIT_ORDINALS, **_TEEN_ORDINALS}
_ENGLISH = frozenset((*_BELOW_HUNDRED, *_SCALES, *_ORDINALS, "hundred", "hundredth", "thousandth", "millionth", "zero"))
_DIGITS_ONLY = re.compile(r"\d+(?:,\d{3})*")
_DECIMAL = re.compile(r"\d+\.\d+")
_WRITTEN_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


def is_english_number(word: str) -> bool:
    """Tell whether a word says a number or a part of one: "forty", "forty-two", "second", "42"."""
    return word in _ENGLISH or word.partition("-")[0] in _ENGLISH or word[:1].isdecimal()


def english_numbers(words: Sequence[str]) -> list[NumberSpan]:
    """Return the English numbers, each alone, zeros, and numbers that are written with digits."""
    found, place = [], 0
    while place < len(words):
        word, span = words[place], None
        if _may_begin_number(word):
            span = _spoken(words, place) or _written(word, place)
        if span is not None:
            found.append(span)
        place = place + 1 if span is None else span.end
    return found


@lru_cache(maxsize=2**14)
def _may_begin_number(word: str) -> bool:
    return word == "a" or word in ZEROS or is_english_number(word)


def _written(word: str, place: int) -> NumberSpan | None:
    if word in ZEROS:
        return NumberSpan(place, place + 1, NumberKind.DIGITS, "0")
    if _DIGITS_ONLY.fullmatch(word):
        return NumberSpan(place, place + 1, NumberKind.CARDINAL, word.replace(",", ""))
    if _DECIMAL.fullmatch(word):
        return NumberSpan(place, place + 1, NumberKind.DECIMAL, word)
    ordinal = _WRITTEN_ORDINAL.fullmatch(word)
    return None if ordinal is None else NumberSpan(place, place + 1, NumberKind.ORDINAL, ordinal[1])


def _spoken(words: Sequence[str], begin: int) -> NumberSpan | None:
    """Read the longest English number that begins at a word, with its decimals."""
    number = _whole(words, begin)
    if (
        number is not None
        and number.kind is NumberKind.CARDINAL
        and number.end < len(words)
        and words[number.end] == "point"
    ):
        decimals, stop = _spoken_decimals(words, number.end + 1)
        if decimals:
            return NumberSpan(begin, stop, NumberKind.DECIMAL, f"{number.value}.{decimals}")
    return number


def _whole(words: Sequence[str], begin: int) -> NumberSpan | None:
    reader = _Reader(words, begin)
    end, value, ordinal = reader.read()
    if end == begin:
        return None
    if ordinal:
        return NumberSpan(begin, end, NumberKind.ORDINAL, str(value))
    return NumberSpan(begin, end, NumberKind.CARDINAL, str(value))


def _spoken_decimals(words: Sequence[str], begin: int) -> tuple[str, int]:
    """Return the digits behind a point, and where they end."""
    digits, place = "", begin
    while place < len(words) and (words[place] in UNITS or words[place] in ZEROS):
        digits += str(UNITS.get(words[place], 0))
        place += 1
    if (
        not digits
        and begin < len(words)
        and (number := _whole(words, begin)) is not None
        and number.kind is NumberKind.CARDINAL
    ):
        return number.value, number.end
    return digits, place


class _Reader:
    """Reads one English number: groups below a thousand, each with its scale, the scales falling.

    ``_group`` is what the running group says so far, ``_room`` the smallest power of ten that another word may not
    reach: 1000 at its beginning, 100 behind "hundred", 10 behind "twenty", 1 behind a unit.
    """

    def __init__(self, words: Sequence[str], begin: int) -> None:
        self._words = words
        self._place = begin
        self._total = self._group = 0
        self._room, self._scale = 1000, 10**15
        self._before_and: tuple[int, int, int] | None = None

    def read(self) -> tuple[int, int, bool]:
        """Return where the number ends, its value, and whether it is an ordinal."""
        begin = self._place
        if self._words[begin] == "zero":
            return begin + 1, 0, False
        if self._words[begin] == "a" and self._word(begin + 1) in ("hundred", *_SCALES):
            self._group, self._room, self._place = 1, 1, begin + 1
        while self._place < len(self._words):
            word = self._words[self._place]
            if self._ordinal(word):
                return self._place + 1, self._total + self._group, True
            if not self._takes(word):
                if word in ("hundred", *_SCALES) and self._before_and is not None:  # "two hundred and three hundred"
                    self._place, self._total, self._group = self._before_and
                break
            self._place += 1
        if self._before_and is not None and self._word(self._place - 1) == "and":
            self._place, self._total, self._group = self._before_and
        return self._place, self._total + self._group, False

    def _word(self, place: int) -> str:
        return self._words[place] if 0 <= place < len(self._words) else ""

    def _takes(self, word: str) -> bool:
        if "-" in word:
            tens, _, unit = word.partition("-")
            return tens in _TENS and unit in UNITS and self._takes(tens) and self._takes(unit)
        below = _BELOW_HUNDRED.get(word)
        if below is not None:
            size = 10 if word in UNITS else _HUNDRED
            if size > self._room:
                return False
            self._group += below
            self._room = 10 if word in _TENS else 1
            return True
        if word == "hundred":
            return self._multiplies()
        if word in _SCALES:
            return self._closes(_SCALES[word])
        return word == "and" and self._may_go_on()

    def _multiplies(self) -> bool:
        if self._room == 1000 and not self._group and not self._total:
            self._group = 1
        if not 0 < self._group < _HUNDRED:
            return False
        self._group, self._room = self._group * _HUNDRED, _HUNDRED
        return True

    def _closes(self, scale: int) -> bool:
        if scale >= self._scale or not (self._group or not self._total):
            return False
        self._total += max(self._group, 1) * scale
        self._group, self._room, self._scale = 0, 1000, scale
        return True

    def _may_go_on(self) -> bool:
        """Tell whether "and" goes on with this number: behind a hundred or a scale, before what is smaller."""
        behind = self._word(self._place + 1).partition("-")[0]
        round_group = self._room == _HUNDRED or (self._room == 1000 and self._total > 0)
        if not round_group or (behind not in _BELOW_HUNDRED and behind not in _ORDINALS):
            return False
        self._before_and = self._place, self._total, self._group
        return True

    def _ordinal(self, word: str) -> bool:
        tens, _, unit = word.rpartition("-")
        value = UNIT_ORDINALS.get(unit) or _TEEN_ORDINALS.get(word)
        if value is None or (tens and tens not in _TENS):
            return self._ordinal_scale(word)
        if (10 if unit in UNIT_ORDINALS and not tens else _HUNDRED) > self._room:
            return False
        self._group += value + _TENS.get(tens, 0)
        return True

    def _ordinal_scale(self, word: str) -> bool:
        if word == "hundredth":
            return self._multiplies()
        return word.endswith("th") and word[:-2] in _SCALES and self._closes(_SCALES[word[:-2]])
