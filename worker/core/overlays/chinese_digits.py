"""Chinese numbers as digits: which of the numbers that are said are sure enough, and how each is written.

    一共六百四十七块 下午三点十五分 百分之二十  ->  一共647块 下午3点15分 20%

Rules:

1. Numbers are found character by character; an overlay takes whole words, and other characters of them stay.
2. Times, percentages, dates and years, amounts with their unit: also below ten.
3. Ordinals and cardinals from ten on; digit strings of three or more, but no counting (一二三).
4. 万 and 亿 stay where the number ends with them: 五万 is 5万, 两万五 is 25000.

A number stays in words where it is not sure: beside another numeral or 几, 数, 多 (but behind tens), as a fraction, as
a scale alone (千万), as one word with another sense (十分), at a border behind which words may go on, across a mark.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.numbers.chinese_numbers import NUMERALS, chinese_number_at
from caesura.worker.core.numbers.number_span import NumberKind
from caesura.worker.core.overlays.overlay import Overlay, Stretch, is_counting

_BREAK = "\n"
"""Stands for a Latin word, and behind a mark: no number goes on over it."""

_N = f"[{NUMERALS}]"
_DAY_PART = re.compile("(?:早上|早晨|上午|中午|下午|傍晚|晚上|夜里|半夜|凌晨|清晨|今晚|明早|今早|昨晚|明晚)$")
_CLOCK = re.compile(f"(?P<hour>{_N}{{1,3}})点(?:(?P<minute>{_N}{{1,3}})(?P<unit>分(?!钟)|刻)?|(?P<half>半|钟|整))?")
_PERCENT = re.compile(f"百分之(?P<value>{_N}+(?:点{_N}+)?)(?:(?P<link>[到至])(?P<more>{_N}+(?:点{_N}+)?)(?!个))?")
_MONEY = re.compile(f"(?P<whole>{_N}+)块[一二三四五六七八九](?:[毛角][一二三四五六七八九]?)?(?![{NUMERALS}个])")
_UNITS = re.compile(
    "公里|千米|英里|厘米|毫米|米(?!饭|粉|线)|公斤|千克|毫克|克|斤|吨|毫升|升(?!级)|美元|欧元|英镑|日元|元(?!素|旦)|摄氏度|"
    "平方米|平米|立方米|英寸|寸|亩|倍|伏|瓦|兆|小时|分钟|秒|岁|号|日(?!本|子|常)|月|年(?!轻|级|纪)|天(?!气|才|空)|楼|块(?!儿|头)"
)
_NOT_OF_ONE = re.compile("小时|分钟|秒|岁|日|年|天|楼|块|倍|米|元|寸|亩|斤|升|吨|克|伏|瓦|兆")
_NOT_OF_TWO = re.compile("年|天|岁|日|号|月|楼|块(?!钱)|斤|寸")
_MEASURES = re.compile(
    f"{_UNITS.pattern}|[个位名人次件本张条台辆套间层级页章课届种项点分口只头把支双对包箱瓶杯碗篇首集架艘座家所句行列排组队班"
    "门期度路多]|周(?!到|全)|星期|万|亿"
)
_CODE = re.compile("(?:号|码|话|机|卡|编号|房间?|打|拨|是|按)[是为]?$")
_FRACTION = "分之"
_FAR = "十万八千里"
"""A saying."""
_SCALES = ((10**8, "亿"), (10**4, "万"))
_LEAST, _TEN, _LEAST_DIGITS = 10, "十", 3
_HOURS, _MINUTES = range(25), range(60)
_CUE_CHARACTERS = 4
"""No cue before a number is longer."""
_Found = tuple[int, int, str]
"""Where a text begins and ends, in code points, and what stands for it."""


def chinese_digits(stretch: Stretch) -> list[Overlay]:
    """Return the numbers of a stretch that are sure, in order, with their digits; places are the stretch's."""
    if all(map(str.isascii, stretch.words)):
        return []
    text, owner = "", []
    for place, (word, mark) in enumerate(zip(stretch.words, stretch.marks, strict=True)):
        said = _BREAK if word.isascii() else word + (_BREAK if mark != "none" else "")
        text += said
        owner += [place] * len(said)
    read = simplified(text)
    if not any(char in NUMERALS for char in read):
        return []
    return list(_overlays(text, owner, list(_Finder(read, begins=stretch.begins, ends=stretch.ends).found())))


def _overlays(text: str, owner: list[int], found: list[_Found]) -> Iterator[Overlay]:
    """Yield overlays of whole words; numbers that share a word are in one."""
    at = 0
    while at < len(found):
        last = at
        while last + 1 < len(found) and owner[found[last + 1][0]] <= owner[found[last][1] - 1]:
            last += 1
        first_word, last_word = owner[found[at][0]], owner[found[last][1] - 1]
        begin, end = bisect_left(owner, first_word), bisect_right(owner, last_word)
        written, place = "", begin
        for number in found[at : last + 1]:
            said = text[number[0] : number[1]]
            scales = {ord(simplified(scale)): scale for scale in said if scale in "萬億"}
            written += text[place : number[0]] + number[2].translate(scales)
            place = number[1]
        yield Overlay(first_word, last_word + 1, (written + text[place:end]).removesuffix(_BREAK))
        at = last + 1


def _value(text: str) -> str:
    """Return a numeral as digits; "" where it is not one whole numeral."""
    found = chinese_number_at(text, 0)
    return found[2] if found is not None and found[0] == len(text) else ""


def _scaled(value: int, said: str) -> str:
    """Write a whole number; with its last scale where it was said with that at the end."""
    for scale, name in _SCALES:
        if said.endswith(name) and value % scale == 0:
            return f"{value // scale}{name}"
    return str(value)


class _Finder:
    """The numbers of a text."""

    def __init__(self, text: str, *, begins: bool, ends: bool) -> None:
        self._text = text
        self._begins = begins
        self._ends = ends

    def found(self) -> Iterator[_Found]:
        place = 0
        while place < len(self._text):
            if self._text[place] not in f"{NUMERALS}第":
                place += 1
                continue
            found = self._percent(place) or self._clock(place) or self._money(place) or self._number(place)
            if found is None:
                while place < len(self._text) and self._text[place] in f"{NUMERALS}第点":
                    place += 1
                continue
            if found[2] != self._text[found[0] : found[1]]:
                yield found
            place = found[1]

    def _is_open(self, begin: int, end: int) -> bool:
        """Tell whether more of a number may stand beyond the borders, or a numeral stands beside it."""
        text = self._text
        if (begin == 0 and not self._begins) or (end == len(text) and not self._ends):
            return True
        before, behind = text[max(0, begin - 1) : begin], text[end : end + 1]
        return bool(before and before in f"{NUMERALS}几数第点") or bool(behind and behind in f"{NUMERALS}几")

    def _percent(self, place: int) -> _Found | None:
        percent = _PERCENT.match(self._text, place)
        if percent is None or self._is_open(place, percent.end()):
            return None
        whole, point, rest = percent["value"].partition("点")
        value = _value(percent["value"]) if point else _value(whole) or ("100" if whole == "百" else "")
        if not value or (point and not rest):
            return None
        more = _value(percent["more"]) if percent["more"] else ""
        if more:
            return place, percent.end(), f"{value}%{percent['link']}{more}%"
        return place, percent.end("value"), f"{value}%"

    def _clock(self, place: int) -> _Found | None:
        """Write a time: with minutes or half, with 钟 or 整, or behind a part of the day."""
        clock = _CLOCK.match(self._text, place)
        if clock is None or self._is_open(place, clock.end()):
            return None
        part_of_day = self._is_behind(_DAY_PART, place)
        hour, said, unit = _value(clock["hour"]), clock["minute"] or "", clock["unit"] or ""
        minute = _value(said) if said else ""
        if not hour or int(hour) not in _HOURS or (said and (not minute or int(minute) not in _MINUTES)):
            return None
        sure = part_of_day or bool(clock["half"]) or _TEN in said or unit == "刻" or (unit and len(said) > 1)
        if not sure or (said and len(said) == 1 and not unit):
            return None
        if said.startswith("零") and len(said) > 1:
            minute = f"0{int(minute)}"
        return place, clock.end(), f"{hour}点{minute}{unit}{clock['half'] or ''}"

    def _money(self, place: int) -> _Found | None:
        money = _MONEY.match(self._text, place)
        if money is None or self._is_open(place, money.end()):
            return None
        whole = _value(money["whole"])
        written = re.sub("[一二三四五六七八九]", lambda digit: _value(digit[0]), money[0][len(money["whole"]) :])
        return (place, money.end(), whole + written) if whole else None

    def _number(self, place: int) -> _Found | None:
        read = chinese_number_at(self._text, place)
        if read is None:
            return None
        end, kind, value = read
        written = self._digits(place, end, value) if kind is NumberKind.DIGITS else self._whole(place, end, kind, value)
        return (place, end, written) if written else None

    def _whole(self, place: int, end: int, kind: NumberKind, value: str) -> str:
        """Return a number that is no digit string as it is written; "" where it is not sure."""
        if self._is_open(place, end) and not (kind is NumberKind.DECIMAL and self._is_scaled(place, end)):
            return ""
        said = self._text[place:end]
        match kind:
            case NumberKind.DATE | NumberKind.YEAR:
                return self._dated(said) if self._is_sure_date(said, value, kind) else ""
            case NumberKind.ORDINAL:
                return f"第{value}" if int(value) >= _LEAST else ""
            case NumberKind.DECIMAL:
                return value
            case _:
                return _scaled(int(value), said) if self._is_sure(place, end, value) else ""

    def _is_scaled(self, place: int, end: int) -> bool:
        """Tell whether a decimal has a scale behind it, and nothing else: 三点五万."""
        behind = self._text[end : end + 1] in ("万", "亿")
        return behind and not self._is_open(place, end + 1)

    def _digits(self, place: int, end: int, value: str) -> str:
        """Return a digit string; "" where it is short, is beside another number, or counts."""
        beside = self._text[max(0, place - 1) : place] + self._text[end : end + 1]
        if (
            len(value) < _LEAST_DIGITS
            or "两" in self._text[place:end]
            or any(char in f"{NUMERALS}几点" for char in beside)
        ):
            return ""
        return "" if is_counting(value) and not self._is_behind(_CODE, place) else value

    def _is_behind(self, cue: re.Pattern[str], place: int) -> bool:
        return cue.search(self._text, max(0, place - _CUE_CHARACTERS), place) is not None

    def _dated(self, said: str) -> str:
        """Write each numeral of a date."""
        return re.sub(f"{_N}+", lambda numeral: _value(numeral[0]) or numeral[0], said)

    def _is_sure_date(self, said: str, value: str, kind: NumberKind) -> bool:
        """Tell whether a year of two digits is no count of years: 三五年, 七八年."""
        if kind is NumberKind.DATE or len(value) > len("98"):
            return True
        return "零" in said or (value[0] in "89" and int(value[1]) != int(value[0]) + 1)

    def _is_sure(self, place: int, end: int, value: str) -> bool:
        """Tell whether a cardinal is sure: its size, its unit, and what else it may mean."""
        text, said = self._text, self._text[place:end]
        before, behind = text[max(0, place - 2) : place], text[end : end + 2]
        if before.endswith("双") or behind[:1] == "大" or said + behind[:1] == _FAR:
            return False
        if said[0] in "百千万亿" or before.endswith(_FRACTION) or behind == _FRACTION or behind[:1] == "点":
            return False
        if int(value) < _LEAST:
            return self._has_unit(end, said)
        if said == _TEN:
            return behind != "分" and not behind.startswith("分") and _MEASURES.match(text, end) is not None
        return True

    def _has_unit(self, end: int, said: str) -> bool:
        unit = _UNITS.match(self._text, end)
        if unit is None or (unit[0] in ("块", "米") and self._text[unit.end() : unit.end() + 1] in (*NUMERALS, "半")):
            return False
        excluded = _NOT_OF_ONE if said == "一" else _NOT_OF_TWO if said in "两俩" else None
        return excluded is None or excluded.match(unit[0]) is None
