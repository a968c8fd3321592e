"""German, Spanish and French calls of our own making: frames in ``de.txt``, ``es.txt`` and ``fr.txt`` beside this file.

Parliaments and press conferences lack what is said on the telephone: short answers, questions without a subject,
numbers read out, dates, addresses, and repairs with a cue. A file holds the ``words`` of each slot, and the sentences
said in ``earnest`` and ``repaired``, in the notation of ``frame_notation``. Numbers and dates are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from caesura.models.data.calls import sections, slot_words
from caesura.models.data.spelled_numbers import SPELLED
from caesura.models.data.spoken_patterns import Frames

_DRAWN = 600
_GERMAN_DAYS = tuple(
    f"{day}ten"
    for day in ("ers", "zwei", "drit", "vier", "fünf", "sechs", "sieb", "ach", "neun", "zehn", "elf", "zwölf")
)


def has_frames(language: str) -> bool:
    """Tell whether there are frames of a language, by its code."""
    return (Path(__file__).parent / f"{language}.txt").is_file()


def european_frames(language: str) -> Frames:
    """Return the frames of a language, by its code, with the words of every slot."""
    own = sections(f"{language}.txt")
    words = slot_words(own["words"])
    words |= _numbers(language, words["month"])
    capitals = {name.capitalize(): [word[:1].upper() + word[1:] for word in given] for name, given in words.items()}
    return Frames(earnest=own["earnest"], repaired=own["repaired"], words=capitals | words)


def _numbers(language: str, months: list[str]) -> dict[str, list[str]]:
    rng, say = random.Random(f"calls {language}"), SPELLED[language]
    return {
        "small": [say(number) for number in range(2, 21)],
        "amount": [_amount(rng, say) for _ in range(_DRAWN)],
        "digits": [" ".join(say(rng.randrange(10)) for _ in range(rng.randint(4, 10))) for _ in range(_DRAWN)],
        "date": [_date(rng, language, months) for _ in range(_DRAWN)],
    }


def _amount(rng: random.Random, say: Callable[[int], str]) -> str:
    number = rng.randrange(21, rng.choice((100, 1000, 10_000, 100_000)))
    return str(number) if rng.random() < 0.15 else say(number)


def _date(rng: random.Random, language: str, months: list[str]) -> str:
    say, month, year = (
        SPELLED[language],
        rng.choice(months),
        rng.choice((rng.randint(1950, 1999), rng.randint(2000, 2030))),
    )
    if language == "de":
        day = rng.randint(1, 31)
        said = _GERMAN_DAYS[day - 1] if day <= len(_GERMAN_DAYS) else say(day) + ("ten" if day < 20 else "sten")
        century, rest = divmod(year, 100)
        spoken = f"{say(century)}hundert{say(rest)}" if year < 2000 else say(year)
        return f"{said} {month}" + (f" {spoken}" if rng.random() < 0.5 else "")
    link = " de " if language == "es" else " "
    return f"{say(rng.randint(2, 31))}{link}{month}" + (f"{link}{say(year)}" if rng.random() < 0.5 else "")
