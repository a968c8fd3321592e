"""Whole numbers below 10^9 as German, Spanish and French say them, and documents whose digits are said so.

Recognisers write some numbers in words and others in digits; edited text has digits alone.
"""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

import random
from collections.abc import Callable

from caesura.models.data.aligned_words import AlignedDocument
from caesura.schemas.labels import Casing, Disfluency, Punctuation

_MOST_DIGITS = 7
_GERMAN_SMALL = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
).split()
_GERMAN_TENS = ["", "", *"zwanzig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig".split()]
_SPANISH_SMALL = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve"
).split()
_SPANISH_TENS = ["", "", "", *"treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()]
_SPANISH_HUNDREDS = (
    "- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"
).split()
_FRENCH_SMALL = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf"
).split()
_FRENCH_TENS = ["", "", *"vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt".split()]


def german(number: int) -> str:
    """Return a number in German."""
    if number >= 10**6:
        head, rest = divmod(number, 10**6)
        said = "eine million" if head == 1 else f"{german(head)} millionen"
        return said + (f" {german(rest)}" if rest else "")
    if number >= 1000:
        head, rest = divmod(number, 1000)
        return (german(head).removesuffix("s") if head % 100 == 1 else german(head)) + "tausend" + _rest(german, rest)
    if number >= 100:
        head, rest = divmod(number, 100)
        return ("ein" if head == 1 else german(head)) + "hundert" + _rest(german, rest)
    if number < 20:
        return _GERMAN_SMALL[number]
    tens, unit = divmod(number, 10)
    return ("" if not unit else ("ein" if unit == 1 else _GERMAN_SMALL[unit]) + "und") + _GERMAN_TENS[tens]


def _rest(said: Callable[[int], str], rest: int, between: str = "") -> str:
    return between + said(rest) if rest else ""


def spanish(number: int) -> str:
    """Return a number in Spanish."""
    if number >= 10**6:
        head, rest = divmod(number, 10**6)
        return ("un millón" if head == 1 else f"{spanish(head)} millones") + _rest(spanish, rest, " ")
    if number >= 1000:
        head, rest = divmod(number, 1000)
        return ("mil" if head == 1 else f"{spanish(head)} mil") + _rest(spanish, rest, " ")
    if number >= 100:
        head, rest = divmod(number, 100)
        return "cien" if number == 100 else _SPANISH_HUNDREDS[head] + _rest(spanish, rest, " ")
    if number < 30:
        return _SPANISH_SMALL[number]
    return _SPANISH_TENS[number // 10] + _rest(spanish, number % 10, " y ")


def french(number: int) -> str:
    """Return a number in French."""
    if number >= 10**6:
        head, rest = divmod(number, 10**6)
        return ("un million" if head == 1 else f"{french(head)} millions") + _rest(french, rest, " ")
    if number >= 1000:
        head, rest = divmod(number, 1000)
        return ("mille" if head == 1 else f"{french(head)} mille") + _rest(french, rest, " ")
    if number >= 100:
        head, rest = divmod(number, 100)
        return ("cent" if head == 1 else f"{_FRENCH_SMALL[head]} cent") + _rest(french, rest, " ")
    if number < 20:
        return _FRENCH_SMALL[number]
    tens, unit = divmod(number, 10)
    if tens in (7, 9):
        unit += 10
    if not unit:
        return _FRENCH_TENS[tens] + ("s" if tens == 8 else "")
    return _FRENCH_TENS[tens] + (" et " if unit in (1, 11) and tens < 8 else "-") + _FRENCH_SMALL[unit]


SPELLED: dict[str, Callable[[int], str]] = {"de": german, "es": spanish, "fr": french}
"""What says a number, by language."""


def with_spelled_numbers(
    document: AlignedDocument, language: str, rng: random.Random, *, share: float
) -> AlignedDocument:
    """Return a copy in which about a ``share`` of the whole numbers in digits are words; the last one has the mark."""
    out = AlignedDocument(document.corpus, document.name)
    labels = zip(document.words, document.punctuation, document.disfluency, document.casing, strict=True)
    for place, (word, mark, tag, casing) in enumerate(labels):
        spelled = [word]
        if word.isdecimal() and len(word) <= _MOST_DIGITS and tag == Disfluency.O and rng.random() < share:
            spelled = SPELLED[language](int(word)).split()
        for said in spelled[:-1]:
            out.add(said, Punctuation.NONE, tag, Casing.SMALL)
        out.add(spelled[-1], mark, tag, casing if spelled == [word] else Casing.SMALL)
        if place in document.turn_ends:
            out.turn_ends.add(len(out.words) - 1)
    return out
