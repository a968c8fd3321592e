"""Chinese numbers among words: 六百四十七, 三点一四, 第三, 一三八, 二零二四年, 八月四号.

They are read character by character from the words' joined text, since a segmenter may cut elsewhere than a number
does; a span takes whole words. A word of other characters than numerals and measures is no number: 一起, 万一.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan

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
NUMERALS = "".join((*_CHINESE_DIGITS, *_CHINESE_UNITS, *_CHINESE_SCALES))
"""The characters that numbers are made of."""
_CHINESE = re.compile(f"[0-9{NUMERALS}]")
_WHOLE_CHINESE = re.compile(f"第?[{NUMERALS}0-9]+")
_MEASURES = frozenset("个块元年月日号岁点分毛角钱张天次人楼位名条本倍度斤里米栋层间件份页克吨升周秒刻时多来半几")
_CHINESE_DATE = re.compile(
    rf"(?:(?P<year>[{NUMERALS}0-9]{{2,4}})年)?(?P<month>[{NUMERALS}0-9]{{1,3}})月(?:(?P<day>[{NUMERALS}0-9]{{1,3}})[日号])?"
)
_CHINESE_YEAR = re.compile(f"(?P<year>[{''.join(_CHINESE_DIGITS)}0-9]{{2}}(?:[{''.join(_CHINESE_DIGITS)}0-9]{{2}})?)年")
_MAX_DAY = 31
_LONGEST_RUN_IN_NUMERAL = 32
"""A longer run of digits is a digit string whatever unit follows: each of its digits would be a numeral of its own."""


def is_chinese_number(word: str) -> bool:
    """Tell whether a word says a number or a part of one: 三十, 第三, 一个."""
    match = _WHOLE_CHINESE.match(word)
    return match is not None and _MEASURES.issuperset(word[match.end() :])


def chinese_numbers(words: Sequence[str]) -> Iterator[NumberSpan]:
    """Find Chinese numbers in the words' joined text; a span is of the words that a number touches."""
    if not any(not word.isascii() and _CHINESE.search(word) for word in words):
        return
    text, owner = "", []
    for place, word in enumerate(words):
        # Latin words and words of Arabic digits alone end a numeral: they are found above
        text += " " if word.isascii() else word
        owner += [place] * (1 if word.isascii() else len(word))
    position = last = 0
    while position < len(text):
        found = chinese_number_at(text, position)
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


def chinese_number_at(text: str, begin: int) -> tuple[int, NumberKind, str] | None:
    """Return the longest number that begins at a character: its end, kind and value; None where none does."""
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
    if len(run) > _LONGEST_RUN_IN_NUMERAL:
        return run, end
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
