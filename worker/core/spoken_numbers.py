"""Numbers as they are spoken: amounts, digit strings, ordinals, years and dates among words, in English and Chinese.

    >>> number_spans(_listed("born on august fourth two thousand and two"))
    [NumberSpan(begin=2, end=8, kind=<NumberKind.DATE: 'date'>, value='2002-08-04')]

English numbers are read word by word, then put together to years, digit strings and dates; Chinese ones character by
character, since a segmenter may cut elsewhere than the number does: a span takes whole words. Words of both languages
may stand in one text.

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

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["NumberKind", "NumberSpan", "is_number_word", "number_spans"]


class NumberKind(StrEnum):
    """What a number says."""

    CARDINAL = "cardinal"
    DECIMAL = "decimal"
    ORDINAL = "ordinal"
    DIGITS = "digits"
    YEAR = "year"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class NumberSpan:
    """The words from ``begin`` to before ``end`` and the number that they say; the module says what ``value`` is."""

    begin: int
    end: int
    kind: NumberKind
    value: str


def _numbered(words: str, first: int = 1, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(words.split())}


_UNITS = _numbered("one two three four five six seven eight nine")
_TEENS = _numbered("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10)
_TENS = _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNIT_ORDINALS = _numbered("first second third fourth fifth sixth seventh eighth ninth")
_TEEN_ORDINALS = {
    **_numbered(
        "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth", 10
    ),
    **_numbered("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth", 20, 10),
}
_HUNDRED = 100
_ZEROS = frozenset(("oh", "o", "zero", "nought"))
_TIMES = {"double": 2, "triple": 3}
_MONTHS = _numbered("january february march april may june july august september october november december")
_BELOW_HUNDRED = {**_UNITS, **_TEENS, **_TENS}
_ORDINALS = {**_UNIT_ORDINALS, **_TEEN_ORDINALS}
_ENGLISH = frozenset((*_BELOW_HUNDRED, *_SCALES, *_ORDINALS, "hundred", "hundredth", "thousandth", "millionth", "zero"))
_CHINESE_DIGITS = {
    **{digit: value for value, digit in enumerate("零一二三四五六七八九")},
    "〇": 0,
    "○": 0,
    "两": 2,
    "俩": 2,
    "幺": 1,
}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1_000}
_CHINESE_SCALES = {"万": 10_000, "亿": 100_000_000}
_NUMERAL = "".join((*_CHINESE_DIGITS, *_CHINESE_UNITS, *_CHINESE_SCALES))
_CHINESE = re.compile(f"[0-9{_NUMERAL}]")
_WHOLE_CHINESE = re.compile(f"第?[{_NUMERAL}0-9]+")
_MEASURES = frozenset("个块元年月日号岁点分毛角钱张天次人楼位名条本倍度斤里米栋层间件份页克吨升周秒刻时多来半几")
_DIGITS_ONLY = re.compile(r"\d+(?:,\d{3})*")
_DECIMAL = re.compile(r"\d+\.\d+")
_WRITTEN_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CHINESE_DATE = re.compile(
    rf"(?:(?P<year>[{_NUMERAL}0-9]{{2,4}})年)?(?P<month>[{_NUMERAL}0-9]{{1,3}})月(?:(?P<day>[{_NUMERAL}0-9]{{1,3}})[日号])?"
)
_CHINESE_YEAR = re.compile(f"(?P<year>[{''.join(_CHINESE_DIGITS)}0-9]{{2}}(?:[{''.join(_CHINESE_DIGITS)}0-9]{{2}})?)年")
_MAX_DAY, _YEARS = 31, range(1000, 2200)
_MIN_ENDING, _MAX_ENDING, _CENTURIES = 10, 99, range(13, 22)


def is_number_word(word: str) -> bool:
    """Tell whether a word (a model's view) says a number or a part of one: "forty", "42", 三十, 第三, 一个."""
    if word in _ENGLISH or word.partition("-")[0] in _ENGLISH or word[:1].isdecimal():
        return True
    match = _WHOLE_CHINESE.match(word)
    return match is not None and _MEASURES.issuperset(word[match.end() :])


def number_spans(words: Sequence[str]) -> list[NumberSpan]:
    """Find the numbers among words, each a model's view (folded, without outer marks)."""
    return sorted([*_composed(words, _atoms(words)), *_chinese(words)], key=lambda span: span.begin)


def _atoms(words: Sequence[str]) -> list[NumberSpan]:
    """Return the English numbers, each alone, zeros, and numbers that are written with digits."""
    found, place = [], 0
    while place < len(words):
        span = _spoken(words, place) or _written(words[place], place)
        if span is not None:
            found.append(span)
        place = place + 1 if span is None else span.end
    return found


def _written(word: str, place: int) -> NumberSpan | None:
    if word in _ZEROS:
        return NumberSpan(place, place + 1, NumberKind.DIGITS, "0")
    if _DIGITS_ONLY.fullmatch(word):
        return NumberSpan(place, place + 1, NumberKind.CARDINAL, word.replace(",", ""))
    if _DECIMAL.fullmatch(word):
        return NumberSpan(place, place + 1, NumberKind.DECIMAL, word)
    ordinal = _WRITTEN_ORDINAL.fullmatch(word)
    return None if ordinal is None else NumberSpan(place, place + 1, NumberKind.ORDINAL, ordinal[1])


def _spoken(words: Sequence[str], begin: int) -> NumberSpan | None:
    """Read the longest English number that begins at a word."""
    reader = _Reader(words, begin)
    end, value, ordinal = reader.read()
    if end == begin:
        return None
    if ordinal:
        return NumberSpan(begin, end, NumberKind.ORDINAL, str(value))
    if end < len(words) and words[end] == "point":
        decimals, stop = _spoken_decimals(words, end + 1)
        if decimals:
            return NumberSpan(begin, stop, NumberKind.DECIMAL, f"{value}.{decimals}")
    return NumberSpan(begin, end, NumberKind.CARDINAL, str(value))


def _spoken_decimals(words: Sequence[str], begin: int) -> tuple[str, int]:
    """Return the digits behind a point, and where they end."""
    digits, place = "", begin
    while place < len(words) and (words[place] in _UNITS or words[place] in _ZEROS):
        digits += str(_UNITS.get(words[place], 0))
        place += 1
    if (
        not digits
        and begin < len(words)
        and (number := _spoken(words, begin)) is not None
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
            return tens in _TENS and unit in _UNITS and self._takes(tens) and self._takes(unit)
        below = _BELOW_HUNDRED.get(word)
        if below is not None:
            size = 10 if word in _UNITS else _HUNDRED
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
        value = _UNIT_ORDINALS.get(unit) or _TEEN_ORDINALS.get(word)
        if value is None or (tens and tens not in _TENS):
            return self._ordinal_scale(word)
        if (10 if unit in _UNIT_ORDINALS and not tens else _HUNDRED) > self._room:
            return False
        self._group += value + _TENS.get(tens, 0)
        return True

    def _ordinal_scale(self, word: str) -> bool:
        if word == "hundredth":
            return self._multiplies()
        return word.endswith("th") and word[:-2] in _SCALES and self._closes(_SCALES[word[:-2]])


def _composed(words: Sequence[str], atoms: Sequence[NumberSpan]) -> Iterator[NumberSpan]:
    """Put numbers together that are said one behind the other: dates first, then years, then digit strings."""
    place, at = 0, {span.begin: number for number, span in enumerate(atoms)}
    while place < len(words):
        span = _date(words, atoms, at, place) or _year(atoms, at, place) or _digits(words, atoms, at, place)
        if span is None and place in at and atoms[at[place]].kind is not NumberKind.DIGITS:
            span = atoms[at[place]]
        if span is not None:
            yield span
        place = place + 1 if span is None else span.end


def _atom(atoms: Sequence[NumberSpan], at: dict[int, int], place: int) -> NumberSpan | None:
    return atoms[at[place]] if place in at else None


def _digits(words: Sequence[str], atoms: Sequence[NumberSpan], at: dict[int, int], begin: int) -> NumberSpan | None:
    place, value = begin, ""
    while place < len(words):
        times = _TIMES.get(words[place], 1)
        atom = _atom(atoms, at, place + (times > 1))
        if atom is None or atom.end != atom.begin + 1 or len(atom.value) != 1 or atom.kind is NumberKind.ORDINAL:
            break
        value += atom.value * times
        place = atom.end
    if len(value) == 1 and value != "0" and place in at and atoms[at[place]].end not in at:
        tens = atoms[at[place]]  # "two twenty two": a time, a room, a pressure
        if tens.kind is NumberKind.CARDINAL and _MIN_ENDING <= int(tens.value) <= _MAX_ENDING:
            return NumberSpan(begin, tens.end, NumberKind.DIGITS, value + tens.value)
    return NumberSpan(begin, place, NumberKind.DIGITS, value) if len(value) > 1 and value.strip("0") else None


def _year(atoms: Sequence[NumberSpan], at: dict[int, int], begin: int) -> NumberSpan | None:
    """Return a year that is said as two numbers of two digits."""
    century = _atom(atoms, at, begin)
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
    month, end, day = _MONTHS.get(words[begin]), begin + 1, ""
    if month is None:
        if (first := _day(atoms, at, begin)) is None:
            return None
        end = first.end + (words[first.end : first.end + 1] == ["of"])
        month = _MONTHS.get(words[end]) if end < len(words) else None
        if month is None or (end == first.end and first.kind is NumberKind.CARDINAL and words[end] in ("may", "march")):
            return None
        day, end = first.value, end + 1
    elif found := _day(atoms, at, end + (list(words[end : end + 1]) == ["the"])):
        day, end = found.value, found.end
    year = _year(atoms, at, end) or _whole_year(atoms, at, end)
    if not day and year is None:
        return None
    date = f"{month:02}" + (f"-{int(day):02}" if day else "")
    return NumberSpan(
        begin, end if year is None else year.end, NumberKind.DATE, f"{year.value if year else '-'}-{date}"
    )


def _day(atoms: Sequence[NumberSpan], at: dict[int, int], place: int) -> NumberSpan | None:
    atom = _atom(atoms, at, place)
    if atom is None or atom.kind not in (NumberKind.ORDINAL, NumberKind.CARDINAL) or _year(atoms, at, place):
        return None
    return atom if 1 <= int(atom.value) <= _MAX_DAY else None


def _whole_year(atoms: Sequence[NumberSpan], at: dict[int, int], place: int) -> NumberSpan | None:
    atom = _atom(atoms, at, place)
    return atom if atom and atom.kind is NumberKind.CARDINAL and int(atom.value) in _YEARS else None


def _chinese(words: Sequence[str]) -> Iterator[NumberSpan]:
    """Find Chinese numbers in the words' joined text; a span is of the words that a number touches."""
    if not any(_CHINESE.search(word) and not word.isascii() for word in words):
        return
    text, owner = "", []
    for place, word in enumerate(words):
        # Latin words and words of Arabic digits alone end a numeral: they are found above
        text += " " if word.isascii() else word
        owner += [place] * (1 if word.isascii() else len(word))
    position = last = 0
    while position < len(text):
        found = _chinese_at(text, position)
        if found is None:
            position += 1
            continue
        end, kind, value = found
        begin_word, end_word = owner[position], owner[end - 1] + 1
        begins_word = position == 0 or owner[position - 1] != begin_word
        if begins_word and begin_word >= last and _is_whole(words, begin_word, end_word):
            yield NumberSpan(begin_word, end_word, kind, value)
            last = end_word
        position = end


def _is_whole(words: Sequence[str], begin: int, end: int) -> bool:
    """Tell whether each of the words is of numerals and measures alone: 一个 is a number, 一起 and 万一 are none."""
    return all(
        all(_CHINESE.match(char) or char in _MEASURES or char == "第" for char in word) for word in words[begin:end]
    )


def _chinese_at(text: str, begin: int) -> tuple[int, NumberKind, str] | None:
    """Return the longest number that begins at a character: its end, kind and value."""
    if date := _chinese_date(text, begin):
        return date
    if year := _CHINESE_YEAR.match(text, begin):
        return year.end(), NumberKind.YEAR, _year_of(year["year"])
    ordinal = text[begin] == "第"
    value, end = _numeral(text, begin + ordinal)
    if not value:
        return None
    if ordinal:
        return end, NumberKind.ORDINAL, value
    decimals, stop = _run_of_digits(text, end + 1) if text[end : end + 1] == "点" else ("", end)
    if decimals:
        return stop, NumberKind.DECIMAL, f"{value}.{decimals}"
    spelled = end - begin > 1 and _run_of_digits(text, begin)[1] >= end
    return end, NumberKind.DIGITS if spelled else NumberKind.CARDINAL, value


def _chinese_date(text: str, begin: int) -> tuple[int, NumberKind, str] | None:
    date = _CHINESE_DATE.match(text, begin)
    if date is None or not (date["year"] or date["day"]):
        return None
    month, day = _whole(date["month"]), _whole(date["day"] or "一")
    if month not in range(1, 13) or day not in range(1, _MAX_DAY + 1):
        return None
    year = _year_of(date["year"]) if date["year"] else "-"
    return date.end(), NumberKind.DATE, f"{year}-{month:02}" + (f"-{day:02}" if date["day"] else "")


def _year_of(text: str) -> str:
    return _run_of_digits(text, 0)[0]


def _whole(text: str) -> int | None:
    value, end = _numeral(text, 0)
    return int(value) if end == len(text) and value else None


def _run_of_digits(text: str, begin: int) -> tuple[str, int]:
    end = begin
    while end < len(text) and (text[end] in _CHINESE_DIGITS or (text[end].isascii() and text[end].isdecimal())):
        end += 1
    return "".join(str(_CHINESE_DIGITS.get(char, char)) for char in text[begin:end]), end


def _numeral(text: str, begin: int) -> tuple[str, int]:
    """Read the longest numeral from a character on: its value in digits and its end; "" where there is none.

    Digits one behind the other are a digit string. Units fall within a numeral, so 十八十九 is two.
    """
    run, end = _run_of_digits(text, begin)
    if len(run) > 1 and not run.startswith("0"):
        if text[end : end + 1] not in ("万", "亿"):
            return run, end
    elif len(run) > 1 and text[end : end + 1] not in (*_CHINESE_UNITS, *_CHINESE_SCALES):
        return run, end
    total = section = 0
    smallest_unit, smallest_scale, place, digit = 10_000, 10**12, begin, None
    while place < len(text):
        char = text[place]
        if char in _CHINESE_DIGITS:
            if digit is not None and digit != 0:
                break
            digit = _CHINESE_DIGITS[char]
        elif char in _CHINESE_UNITS and _CHINESE_UNITS[char] < smallest_unit:
            smallest_unit = _CHINESE_UNITS[char]
            section += (1 if digit is None else digit) * smallest_unit
            digit = None
        elif char in _CHINESE_SCALES and _CHINESE_SCALES[char] < smallest_scale and (section or digit):
            smallest_scale = _CHINESE_SCALES[char]
            total += (section + (digit or 0)) * smallest_scale
            section, digit, smallest_unit = 0, None, 10_000
        else:
            break
        place += 1
    # 两万五 and 一百五 leave the last unit out; a zero before the last digit says that it is one: 一百零五
    spoken = text[place - 2 : place - 1] if place - begin > 1 else ""
    last = {"百": 10, "千": 100, "万": 1_000, "亿": 10_000_000}.get(spoken, 1)
    return (str(total + section + (digit or 0) * last) if place > begin else ""), place
