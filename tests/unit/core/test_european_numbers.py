"""German, Spanish and French numbers: every number that is said is read back, and articles are no numbers."""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.european_numbers import EUROPEAN, european_numbers, is_european_number
from worker.core.number_span import NumberKind, NumberSpan

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


SAID: dict[str, Callable[[int], str]] = {"de": german, "es": spanish, "fr": french}
MONTHS = {language: list(lexicon.months) for language, lexicon in EUROPEAN.items()}
LANGUAGE = st.sampled_from(sorted(SAID))
ARTICLES = {"ein", "eins", "un", "uno", "une", "una"}


def found(text: str, language: str) -> list[tuple[int, int, str, str]]:
    spans = european_numbers(text.split(), language)
    return [(span.begin, span.end, span.kind.value, span.value) for span in spans]


@given(LANGUAGE, st.integers(0, 99) | st.integers(0, 9999) | st.integers(0, 10**9 - 1))
def test_a_number_that_is_said_is_read_back(language: str, number: int) -> None:
    said = SAID[language](number)
    if said not in ARTICLES:
        words = f"x {said} x".split()
        assert european_numbers(words, language) == [NumberSpan(1, len(words) - 1, NumberKind.CARDINAL, str(number))], (
            said
        )
        assert all(is_european_number(word, language) for word in said.split())


@given(LANGUAGE, st.lists(st.integers(0, 9), min_size=2, max_size=12))
def test_digits_that_are_said_one_by_one_are_one_string(language: str, digits: list[int]) -> None:
    words = [SAID[language](digit) for digit in digits]
    assert found(" ".join(words), language) == [(0, len(words), "digits", "".join(map(str, digits)))]


@given(LANGUAGE, st.integers(2, 31), st.integers(1, 12), st.integers(1000, 2199))
def test_a_date_is_one_span(language: str, day: int, month: int, year: int) -> None:
    of = " de " if language == "es" else " "
    text = f"{SAID[language](day)}{of}{MONTHS[language][month - 1]}{of}{SAID[language](year)}"
    assert found(text, language) == [(0, len(text.split()), "date", f"{year}-{month:02}-{day:02}")]


@pytest.mark.parametrize(
    ("language", "text", "spans"),
    [
        ("de", "am ersten mai", [(1, 3, "date", "--05-01")]),
        ("de", "am einundzwanzigsten juni", [(1, 3, "date", "--06-21")]),
        ("de", "im jahr neunzehnhundertneunzig", [(2, 3, "cardinal", "1990")]),
        ("de", "drei und zwanzig leute", [(0, 3, "cardinal", "23")]),
        ("de", "zwei und drei sind", [(0, 1, "cardinal", "2"), (2, 3, "cardinal", "3")]),
        ("de", "drei komma fünf prozent", [(0, 3, "decimal", "3.5")]),
        ("de", "der dritte mann", [(1, 2, "ordinal", "3")]),
        ("de", "ein haus und eine frau", []),
        ("de", "hundert", [(0, 1, "cardinal", "100")]),
        ("es", "el primero de mayo", [(1, 4, "date", "--05-01")]),
        ("es", "del dos mil veinte", [(1, 4, "cardinal", "2020")]),
        ("es", "tres coma dos cinco", [(0, 4, "decimal", "3.25")]),
        ("es", "seis uno cero dos", [(0, 4, "digits", "6102")]),
        ("es", "una casa y un perro", []),
        ("es", "treinta y también", [(0, 1, "cardinal", "30")]),
        ("fr", "quatre vingt dix sept", [(0, 4, "cardinal", "97")]),
        ("fr", "septante et un", [(0, 3, "cardinal", "71")]),
        ("fr", "zéro six douze vingt-sept", [(0, 4, "digits", "061227")]),
        ("fr", "la quatrième et la neuvième", [(1, 2, "ordinal", "4"), (4, 5, "ordinal", "9")]),
        ("fr", "le 14 juillet 1789", [(1, 4, "date", "1789-07-14")]),
        ("fr", "un homme et une femme", []),
        ("fr", "12,5 et 1.200", [(0, 1, "decimal", "12.5"), (2, 3, "cardinal", "1200")]),
    ],
)
def test_what_speakers_say_is_found(language: str, text: str, spans: list[tuple[int, int, str, str]]) -> None:
    assert found(text, language) == spans


@given(LANGUAGE, st.lists(st.sampled_from("x un ein y und et deux dos zwei vingt mil cent hundert 3 mai de".split())))
def test_spans_are_in_order_and_do_not_overlap(language: str, words: list[str]) -> None:
    end = 0
    for span in european_numbers(words, language):
        assert end <= span.begin < span.end <= len(words)
        end = span.end
