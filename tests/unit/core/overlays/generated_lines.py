"""Lines with spoken numbers that a seed draws: frames, values, and how each value is written, by no rule of ours."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

from tests.unit.core.overlays.number_lines import NumberLine
from tests.unit.core.spoken import DIGITS, MONTHS, UNITS, chinese, english, ordinal, year

_A_KIND = 20
_SEED = 71


def generated() -> list[NumberLine]:
    """Return 20 lines of each kind, the same ones each time."""
    draw = random.Random(_SEED)
    english_kinds: dict[str, Callable[[random.Random], tuple[str, str]]] = {
        "amount": _dollars,
        "ordinal": _ordinals,
        "date": _dates,
        "time": _times,
        "phone": _phones,
        "percent": _percents,
        "unit": _units,
    }
    chinese_kinds: dict[str, Callable[[random.Random], tuple[str, str]]] = {
        "amount": _chinese_money,
        "ordinal": partial(_chinese_frame, "他 是 第{} 名", "他是第{}名"),
        "date": _chinese_dates,
        "time": _chinese_times,
        "phone": _chinese_codes,
        "percent": partial(_chinese_frame, "大约 百分之{} 的 人", "大约{}%的人"),
        "unit": partial(_chinese_frame, "这里 有 {} 米 高", "这里有{}米高"),
    }
    return [
        *(line for kind, made in english_kinds.items() for line in _lines(kind, "en", draw, made)),
        *(line for kind, made in chinese_kinds.items() for line in _lines(kind, "zh", draw, made)),
    ]


def _lines(
    kind: str, lang: str, draw: random.Random, made: Callable[[random.Random], tuple[str, str]]
) -> Iterator[NumberLine]:
    for _ in range(_A_KIND):
        said, written = made(draw)
        yield NumberLine(kind, said, written, lang)


def _size(draw: random.Random) -> int:
    """Draw a number, small ones as often as large ones, none that is said with a scale alone."""
    return max(11, int(10 ** draw.uniform(1, 6.9)))


def _dollars(draw: random.Random) -> tuple[str, str]:
    value, cents = _size(draw), draw.randint(2, 99)
    words, text = " ".join(english(value, links=draw.random() < 0.5)), f"${value:,}"
    if draw.random() < 0.5:
        words, text = f"{words} dollars and {' '.join(english(cents))} cents", f"{text}.{cents:02}"
    else:
        words = f"{words} dollars"
    return f"they asked for {words} in the end", f"they asked for {text} in the end"


def _ordinals(draw: random.Random) -> tuple[str, str]:
    value = draw.randint(10, 99)
    ending = "th" if value // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"this is the {' '.join(ordinal(value))} letter", f"this is the {value}{ending} letter"


def _dates(draw: random.Random) -> tuple[str, str]:
    month, day, said = draw.randrange(12), draw.randint(1, 31), draw.randint(1901, 2099)
    name, words = MONTHS[month], " ".join(ordinal(day))
    if draw.random() < 0.5:
        return f"we met on {name} {words} again", f"we met on {name.title()} {day} again"
    return f"we met on {name} {words} {' '.join(year(said))}", f"we met on {name.title()} {day}, {said}"


def _times(draw: random.Random) -> tuple[str, str]:
    hour, minute, half = draw.randint(1, 12), draw.randint(1, 59), draw.choice(["a m", "p m", ""])
    words = [*english(hour), *(["oh"] if minute < 10 else []), *english(minute), *half.split()]
    text = f"{hour}:{minute:02}" + (f" {half.replace(' ', '').upper()}" if half else "")
    return f"the bus left at {' '.join(words)}", f"the bus left at {text}"


def _phones(draw: random.Random) -> tuple[str, str]:
    digits = f"{draw.randint(2, 9)}" + "".join(str(draw.randint(0, 9)) for _ in range(draw.choice([6, 9])))
    words = " ".join("oh" if digit == "0" else UNITS[int(digit)] for digit in digits)
    grouped = f"{digits[-7:-4]}-{digits[-4:]}"
    return f"my phone number is {words}", f"my phone number is {f'{digits[:3]}-' if len(digits) > 7 else ''}{grouped}"


def _percents(draw: random.Random) -> tuple[str, str]:
    value, rest = draw.randint(1, 99), draw.randint(0, 9)
    words, text = " ".join(english(value)), str(value)
    if draw.random() < 0.5:
        words, text = f"{words} point {UNITS[rest]}", f"{value}.{rest}"
    return f"about {words} percent of it", f"about {text}% of it"


def _units(draw: random.Random) -> tuple[str, str]:
    value, unit = draw.randint(2, 999), draw.choice(["kilometers", "grams", "degrees", "minutes", "years", "liters"])
    return f"it took {' '.join(english(value))} {unit}", f"it took {value} {unit}"


def _chinese_frame(said: str, written: str, draw: random.Random) -> tuple[str, str]:
    value = draw.randint(11, 999)
    return said.format(chinese(value)), written.format(value)


def _chinese_money(draw: random.Random) -> tuple[str, str]:
    value = _size(draw)
    text = str(value) if value % 10_000 else f"{value // 10_000}万"
    return f"一共 花 了 {chinese(value)} 块", f"一共花了{text}块"


def _chinese_dates(draw: random.Random) -> tuple[str, str]:
    said, month, day = draw.randint(1901, 2099), draw.randint(1, 12), draw.randint(1, 31)
    years = "".join(DIGITS[int(digit)] for digit in str(said))
    return f"在 {years}年 {chinese(month)}月 {chinese(day)}号 开会", f"在{said}年{month}月{day}号开会"


def _chinese_times(draw: random.Random) -> tuple[str, str]:
    hour, minute = draw.randint(1, 12), draw.randint(10, 59)
    return f"下午 {chinese(hour)}点 {chinese(minute)}分 出发", f"下午{hour}点{minute}分出发"


def _chinese_codes(draw: random.Random) -> tuple[str, str]:
    digits = "1" + "".join(str(draw.randint(0, 9)) for _ in range(10))
    return f"电话 是 {''.join(DIGITS[int(digit)] for digit in digits)}", f"电话是{digits}"
