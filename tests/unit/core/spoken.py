"""How numbers, years and dates are said, for properties: values with their words."""

from __future__ import annotations

from hypothesis import strategies as st

UNITS = "zero one two three four five six seven eight nine".split()  # noqa: SIM905
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
SCALES = ((10**9, "billion"), (10**6, "million"), (10**3, "thousand"))
MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
ORDINALS = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}
DIGITS = "零一二三四五六七八九"


def english(value: int, *, links: bool = False) -> list[str]:
    """Say a number below a trillion; links: with "and" before what is below a hundred."""
    if value < 100:
        return _below_hundred(value)
    words: list[str] = []
    for scale, name in SCALES:
        if value >= scale:
            words += [*english(value // scale, links=links), name]
            value %= scale
    if value >= 100:
        words += [UNITS[value // 100], "hundred"]
        value %= 100
    return words + (["and"] * links + _below_hundred(value) if value else [])


def _below_hundred(value: int) -> list[str]:
    if value < 10:
        return [UNITS[value]]
    if value < 20:
        return [TEENS[value - 10]]
    return [TENS[value // 10 - 2], *([UNITS[value % 10]] if value % 10 else [])]


def ordinal(day: int) -> list[str]:
    *before, last = english(day)
    value = {word: number for number, word in enumerate([*UNITS, *TEENS])}.get(last, 0)
    return [*before, ORDINALS.get(value, last[:-1] + "ieth" if last.endswith("y") else last + "th")]


def year(value: int) -> list[str]:
    if value % 1000 < 10 or value < 1300:
        return english(value, links=True)
    rest = english(value % 100) if value % 100 > 9 else ["oh", UNITS[value % 100]]
    return [*english(value // 100), *rest] if value % 100 else [*english(value // 100), "hundred"]


def chinese(value: int) -> str:
    """Say a number below 10^8."""
    if value >= 10_000:
        rest = value % 10_000
        return chinese(value // 10_000) + "万" + (("零" if rest < 1_000 else "") + chinese(rest) if rest else "")
    said, gap = "", False
    for unit, name in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // unit % 10
        if digit:
            said += ("零" if gap and said else "") + DIGITS[digit] + name
        gap = not digit
    return said or "零"


values = st.one_of(st.integers(0, 199), st.integers(0, 9_999), st.integers(0, 10**12 - 1))
