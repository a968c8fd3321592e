"""Numbers, amounts and dates as they are said in Chinese, drawn for frames: the same ones every time."""

from __future__ import annotations

import random

_DIGITS = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"]


CHINESE_NUMBER_SIGNS = frozenset("零一二两三四五六七八九十百千万亿")
"""The characters that numbers are written with."""


def read_out(count: int) -> list[str]:
    """Return numbers as they are read out, four to eleven digits each, many said twice."""
    rng = random.Random("digits")
    numbers: list[str] = []
    for _ in range(count):
        said = [rng.choice(_DIGITS)]
        while len(said) < 11 and (len(said) < 4 or rng.random() < 0.85):
            said.append(said[-1] if rng.random() < 0.4 else rng.choice(_DIGITS))
        numbers.append("".join(said))
    return numbers


def count_said(value: int) -> str:
    """Return a number below a hundred million as it is said: 二千零五, 一百一十二, 十二."""
    if value >= 10_000:
        rest = value % 10_000
        zero = "零" if 0 < rest < 1000 else ""
        return count_said(value // 10_000) + "万" + zero + (count_said(rest) if rest else "")
    said, zero = "", ""
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, unit)
        if digit:
            said += zero + _DIGITS[digit] + name
        zero = "零" if said and not digit else ""
    return said.removeprefix("一") if said.startswith("一十") else said


def _any_number(rng: random.Random) -> int:
    length = rng.choice((2, 2, 3, 3, 4, 5))
    return rng.randint(10 ** (length - 1), 10**length - 1)


def sums(count: int) -> list[str]:
    """Draw numbers of two to five digits."""
    rng = random.Random("sums")
    said = [count_said(_any_number(rng)) for _ in range(count)]
    return [one.replace("二千", "两千").replace("二万", "两万") if rng.random() < 0.7 else one for one in said]


def yuan(count: int) -> list[str]:
    """Draw amounts of money."""
    rng = random.Random("yuan")
    ends = [*(f"块{_DIGITS[digit]}" for digit in range(1, 10)), "块", "元", "块五毛", "元八角", "块钱"]
    return [count_said(_any_number(rng)) + rng.choice(ends) for _ in range(count)]


def years(count: int) -> list[str]:
    """Draw years as they are read out: 二零零五年."""
    rng = random.Random("years")
    return ["".join(_DIGITS[int(digit)] for digit in str(rng.randint(1940, 2035))) + "年" for _ in range(count)]


def dates(count: int) -> list[str]:
    """Draw dates, two in three with their year."""
    rng = random.Random("dates")
    days = [f"{count_said(rng.randint(1, 12))}月{count_said(rng.randint(1, 31))}" for _ in range(count)]
    return [
        rng.choice((year, year, "")) + day + rng.choice("日号") for year, day in zip(years(count), days, strict=True)
    ]


def times_table() -> list[str]:
    """Return the lines of the table as children say them: 二三得六, 四六二十四."""
    return [
        f"{_DIGITS[one]}{_DIGITS[other]}{'得' if one * other < 10 else ''}{count_said(one * other)}"
        for one in range(1, 10)
        for other in range(one, 10)
        if (one, other) != (3, 3)
    ]
