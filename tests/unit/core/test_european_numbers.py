"""German, Spanish and French numbers: every number that is said is read back, and articles are no numbers."""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.models.data.spelled_numbers import SPELLED
from caesura.worker.core.numbers.european_numbers import EUROPEAN, european_numbers, is_european_number
from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan

MONTHS = {language: list(lexicon.months) for language, lexicon in EUROPEAN.items()}
LANGUAGE = st.sampled_from(sorted(SPELLED))
ARTICLES = {"ein", "eins", "un", "uno", "une", "una"}


def found(text: str, language: str) -> list[tuple[int, int, str, str]]:
    spans = european_numbers(text.split(), language)
    return [(span.begin, span.end, span.kind.value, span.value) for span in spans]


@given(LANGUAGE, st.integers(0, 99) | st.integers(0, 9999) | st.integers(0, 10**9 - 1))
def test_a_number_that_is_said_is_read_back(language: str, number: int) -> None:
    said = SPELLED[language](number)
    if said not in ARTICLES:
        words = f"x {said} x".split()
        assert european_numbers(words, language) == [NumberSpan(1, len(words) - 1, NumberKind.CARDINAL, str(number))], (
            said
        )
        assert all(is_european_number(word, language) for word in said.split())


@given(LANGUAGE, st.lists(st.integers(0, 9), min_size=2, max_size=12))
def test_digits_that_are_said_one_by_one_are_one_string(language: str, digits: list[int]) -> None:
    words = [SPELLED[language](digit) for digit in digits]
    assert found(" ".join(words), language) == [(0, len(words), "digits", "".join(map(str, digits)))]


@given(LANGUAGE, st.integers(2, 31), st.integers(1, 12), st.integers(1000, 2199))
def test_a_date_is_one_span(language: str, day: int, month: int, year: int) -> None:
    of = " de " if language == "es" else " "
    text = f"{SPELLED[language](day)}{of}{MONTHS[language][month - 1]}{of}{SPELLED[language](year)}"
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
        ("es", "tres millones mil casas", [(0, 3, "cardinal", "3001000")]),
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
