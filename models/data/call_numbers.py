"""Numbers, letters and addresses as a caller says them: drawn for the frames of ``calls``.

What is said one by one has no commas ("five five oh one"); the parts of an address have. None of them ends a
sentence. Now and then digits are written as digits, as some recognisers send them. A number is drawn from its whole
range, hundreds, tens and ones together ("six hundred and forty seven"), and a date may carry its year.
"""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

import random
from collections.abc import Callable

_SAID = "zero one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second thirtieth"
).split()
_MONTHS = "January February March April May June July August September October November December".split()
_SPELLED = (
    "Alpha Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliet Kilo Lima Mike November Oscar Papa Quebec Romeo "
    "Sierra Tango Uniform Victor Whiskey Yankee Zulu apple banana cat dog egg fish green house ice jam king lemon "
    "mother nine orange paper queen river sugar table umbrella violet water yellow zebra"
).split()
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNITS = "dollars dollars dollars euros euros pounds pounds pounds francs rupees yen cents pence".split()
_MAIL = "gmail outlook hotmail yahoo mail post office webmail".split()
_ENDS = ["com", "com", "org", "net", "co dot uk", "de", "fr"]
_WHOLE = 100


def _under_hundred(value: int) -> str:
    if value < len(_SAID):
        return _SAID[value]
    if value < 2 * len(_SAID):
        return _TEENS[value - len(_SAID)]
    tens, ones = divmod(value, 10)
    return _TENS[tens - 2] + (f" {_SAID[ones]}" if ones else "")


def said(value: int, *, joined: bool = False) -> str:
    """Return a number below a thousand million in words. joined: with "and" before the tens, as most say it."""
    parts: list[str] = []
    for size, name in ((1_000_000, "million"), (1000, "thousand"), (_WHOLE, "hundred")):
        count, value = divmod(value, size)
        if count:
            parts.append(f"{said(count, joined=joined)} {name}")
    if value or not parts:
        parts += ["and"] if joined and parts else []
        parts.append(_under_hundred(value))
    return " ".join(parts)


def whole(rng: random.Random) -> str:
    """Draw a number of one to six digits in words, each length as likely, round ones and doubled digits among them."""
    value = rng.randrange(10 ** (length := rng.choice((2, 3, 3, 3, 4, 4, 5, 6))) // 10, 10**length)
    kind = rng.random()
    if kind < 0.15:
        value -= value % 10 ** rng.randint(1, 3)
    elif kind < 0.25:
        value = int(str(rng.randint(1, 9)) * min(length, 3))
    return said(max(value, 2), joined=rng.random() < 0.65)


def _sum(rng: random.Random) -> str:
    unit, small = rng.choice((("dollars", "cents"), ("pounds", "pence"), ("euros", "cents"), ("dollars", "")))
    rest = _under_hundred(rng.randint(2, 99))
    return f"{whole(rng)} {unit}" + rng.choice(
        ("", f" and {rest} {small}" if small else "", f" {rest}" if small else "")
    )


def _millions(rng: random.Random) -> str:
    return said(rng.randint(1, 9) * 1_000_000 + rng.choice((0, rng.randint(1, 999) * 1000)), joined=rng.random() < 0.6)


def spoken_year(rng: random.Random) -> str:
    """Draw a year as people say it: "nineteen sixty seven", "twenty twenty", "two thousand and five", "1984"."""
    kind, rest = rng.random(), rng.randint(10, 99)
    if kind < 0.3:
        one = _SAID[rng.randint(1, 9)]
        return rng.choice(
            (f"two thousand and {one}", f"two thousand and {one}", f"two thousand {one}", f"twenty oh {one}")
        )
    if kind < 0.4:
        return str(rng.randint(1900, 2039))
    if kind < 0.7:
        return f"{rng.choice(('nineteen', 'nineteen', 'eighteen'))} {_under_hundred(rest)}"
    return f"twenty {_under_hundred(rng.choice((*range(10, 32), 20, 20)))}"


def _full_date(rng: random.Random) -> str:
    month, ordinal, year = rng.choice(_MONTHS), rng.choice(_ORDINALS), spoken_year(rng)
    if rng.random() < 0.5:
        return f"{month} (the |){ordinal}, {year}"
    return f"the {ordinal} of {month} {year}"


def _code(rng: random.Random) -> str:
    letters = " ".join(rng.choice(_LETTERS) for _ in range(rng.randint(1, 3)))
    digits = " ".join(_SAID[rng.randrange(10)] for _ in range(rng.randint(1, 4)))
    return rng.choice((f"{letters} {digits}", f"{digits} {letters}", f"{letters} {digits} {letters[0]}", _digits(rng)))


def _stutter(words: str) -> Callable[[random.Random], str]:
    def drawn(rng: random.Random) -> str:
        word = rng.choice(words.split())
        broken = word[: rng.randint(1, min(3, len(word) - 1))] if len(word) > 1 else word
        return f"[{' '.join([broken] * rng.choice((1, 1, 2)))}] {word}"

    return drawn


def _digits(rng: random.Random) -> str:
    length = rng.choice((2, 3, 3, 4, 4, 4, 5, 5, 6, 7, 7, 8, 9, 10, 10, 11))
    if rng.random() < 0.2:
        return " ".join(str(rng.randrange(10)) for _ in range(length))
    zero = rng.choice(("zero", "oh"))
    parts: list[str] = []
    while length > 0:
        digit = rng.randrange(10)
        name = _SAID[digit] if digit else zero
        kind = rng.random()
        if kind < 0.07 and length > 1:
            parts.append(f"double {name}")
            length -= 2
        elif kind < 0.17 and length > 1:
            parts += [name, name]
            length -= 2
        elif kind < 0.2 and length > 2:
            parts += [name, name, name]
            length -= 3
        else:
            parts.append(name)
            length -= 1
    return " ".join(parts)


def _number(rng: random.Random) -> str:
    if rng.random() < 0.25:
        return f"{rng.randint(3, rng.choice((20, 100, 100, 1000, 10_000))):,}"
    return whole(rng)


def _count(rng: random.Random) -> str:
    return said(rng.choice((*range(2, 13), 15, 18, 20, 24, 25, 30, 36, 40, 45, 50, 60, 75, 80, 90)))


def _money(rng: random.Random) -> str:
    kind = rng.random()
    unit = rng.choice(_UNITS)
    if kind < 0.15:
        return f"{rng.choice('$£€')}{rng.randint(2, 900)}{rng.choice(('', '', '.50', '.99', '.20'))}"
    if kind < 0.25:
        return f"{rng.randint(2, 900)} {unit}"
    if kind < 0.5:
        return _sum(rng)
    value = rng.choice((rng.randint(2, 20), rng.randint(5, 99), 5 * rng.randint(2, 19), 100 * rng.randint(1, 20)))
    return f"{said(value)} {unit}"


def _time(rng: random.Random) -> str:
    hour = _under_hundred(rng.randint(1, 12))
    return rng.choice(
        (
            hour,
            f"{hour} o'clock",
            f"half past {hour}",
            f"(a |)quarter (past|to) {hour}",
            f"(ten|five|twenty) (past|to) {hour}",
            f"{hour} {_under_hundred(rng.choice((10, 15, 20, 30, 45, 50)))}",
            f"{hour} (a.m.|p.m.)",
            f"{rng.randint(1, 12)}:{rng.choice(('00', '15', '30', '45'))}",
            f"{rng.randint(1, 12)} (a.m.|p.m.)",
            "noon",
        )
    )


def _date(rng: random.Random) -> str:
    month, ordinal = rng.choice(_MONTHS), rng.choice(_ORDINALS)
    return rng.choice(
        (f"the {ordinal} of {month}", f"{month} {ordinal}", f"{month} the {ordinal}", f"the {ordinal}", f"{month} 1st")
    )


def _year(rng: random.Random) -> str:
    return str(rng.randint(1950, 2030)) if rng.random() < 0.2 else spoken_year(rng)


def _letters(rng: random.Random) -> str:
    return " ".join(rng.choice(_LETTERS) for _ in range(rng.randint(2, 7)))


def _address(rng: random.Random) -> str:
    number = rng.choice((said(rng.randint(2, 120)), str(rng.randint(1, 990)), said(rng.randint(1, 30))))
    street = f"{number} <street> <way>"
    flat = f"(flat|apartment|suite|unit) {rng.choice((_under_hundred(rng.randint(1, 40)), rng.choice(_LETTERS)))}"
    parts = [street]
    if rng.random() < 0.35:
        parts.insert(rng.randint(0, 1), flat)
    if rng.random() < 0.75:
        parts.append("<city>")
    if rng.random() < 0.2:
        parts.append("<country>")
    return ", ".join(parts)


def _email(rng: random.Random) -> str:
    name = rng.choice(("<first.small>", "<first.small> dot <last.small>", "<last.small>", "info", "office", "sales"))
    return f"{name} at {rng.choice(_MAIL)} dot {rng.choice(_ENDS)}"


def _version(rng: random.Random) -> str:
    return rng.choice((f"{rng.randint(1, 9)}.{rng.randint(0, 12)}", f"{_count(rng)} point {_count(rng)}"))


NUMBERS: dict[str, Callable[[random.Random], str]] = {
    "digits": _digits,
    "number": _number,
    "count": _count,
    "money": _money,
    "time": _time,
    "date": _date,
    "year": _year,
    "letters": _letters,
    "letter": lambda rng: rng.choice(_LETTERS),
    "phonetic": lambda rng: rng.choice(_SPELLED),
    "letter_digit": lambda rng: f"{rng.choice(_LETTERS)}{rng.choice(('', *_LETTERS[:6]))}{rng.randint(1, 999)}",
    "address": _address,
    "email": _email,
    "version": _version,
    "sum": _sum,
    "whole": whole,
    "millions": _millions,
    "decimal": lambda rng: f"{whole(rng)} point {' '.join(_SAID[rng.randrange(10)] for _ in range(rng.randint(1, 3)))}",
    "pressure": lambda rng: f"one {_under_hundred(rng.randint(10, 60))} over {_under_hundred(rng.randint(60, 95))}",
    "tens": lambda rng: _under_hundred(rng.randint(10, 99)),
    "fulldate": _full_date,
    "spokenyear": spoken_year,
    "clock": _time,
    "run": _digits,
    "code": _code,
    "stutter": _stutter("I we the they you but so it this when can people my your what because"),
    "stutternoun": _stutter("station terminal kitchen mother doctor garden office party letter daughter bank captain"),
    "stutterverb": _stutter("remember bought called forgot want believe promised painted wonder finished"),
}
"""By slot: what draws it. What is drawn may hold choices and slots again."""
