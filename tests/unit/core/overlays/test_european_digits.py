"""German, Spanish and French numbers as digits: what is sure is written, with the number of its words."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.models.data.spelled_numbers import SPELLED
from caesura.schemas.segments import NumberForm
from caesura.worker.core.numbers.european_numbers import EUROPEAN
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.rendering import Style, render
from tests.unit.core.overlays.number_lines import overlays_of
from tests.unit.core.tagged_lines import words_of

LANGUAGE = st.sampled_from(sorted(SPELLED))
SCALES = {"Million": 10**6, "millones": 10**6, "million": 10**6, "Milliard": 10**9, "milliard": 10**9}
MAY_BE_ANY = ("ein", "eine", "un", "une", "cien", "ciento", "cent")
"""What a number begins with that may stay in words: "cien mil" may be any large number."""


def value_of(text: str) -> int:
    scale = next((size for name, size in SCALES.items() if name in text), 1)
    return int(re.sub(r"\D", "", text)) * scale


@example("es", 5_000_000)
@example("fr", 10**8)
@given(LANGUAGE, st.integers(11, 99) | st.integers(101, 999) | st.integers(2001, 10**9 - 1))
def test_a_cardinal_is_written_with_its_value(lang: str, number: int) -> None:
    said = SPELLED[lang](number).split()
    found = overlays_of(["x", *said, "x"], lang)

    assert [(overlay.begin, overlay.end, value_of(overlay.text)) for overlay in found] in (
        [(1, 1 + len(said), number)],
        [],
    )
    assert found or said[0] in MAY_BE_ANY


@given(lang=LANGUAGE, number=st.integers(11, 10**6), before=st.booleans())
def test_a_number_that_may_go_on_beyond_the_border_stays_in_words(lang: str, number: int, *, before: bool) -> None:
    said = SPELLED[lang](number).split()
    words = [*said, "x"] if before else ["x", *said]

    assert overlays_of(words, lang, begins=not before, ends=before) == []


@given(LANGUAGE, st.lists(st.integers(0, 9), min_size=3, max_size=16))
def test_a_code_keeps_every_digit(lang: str, digits: list[int]) -> None:
    words = ["pin", *(SPELLED[lang](digit) for digit in digits), "x"]
    (overlay,) = overlays_of(words, lang)

    assert re.sub(r"\D", "", overlay.text) == "".join(map(str, digits))
    assert (overlay.begin, overlay.end) == (1, 1 + len(digits))


ANY = (
    "von bis a de y et à oder las uhr heures horas prozent por pour cent ciento euro euros cent céntimos mai mayo mille"
)


@given(LANGUAGE, st.data())
def test_overlays_are_in_order_and_share_no_word(lang: str, data: st.DataObject) -> None:
    word = st.sampled_from([*SPELLED[lang](1_284_617).split(), *EUROPEAN[lang].below, *ANY.split(), "42", "3,5"])
    words = data.draw(st.lists(word, max_size=14))
    end = 0
    for overlay in overlays_of(words, lang):
        assert end <= overlay.begin < overlay.end <= len(words)
        assert overlay.text
        end = overlay.end


@pytest.mark.parametrize(
    ("lang", "line", "text"),
    [
        ("de-AT", "es kostet zwanzig euro|.", "Es kostet 20\u00a0€."),
        ("es-MX", "cuesta veinte pesos|.", "Cuesta 20 pesos."),
        ("fr-CA", "on part à huit heures trente|.", "On part à 8\u00a0h\u00a030."),
    ],
)
def test_a_segment_is_written_by_the_rules_of_its_language(lang: str, line: str, text: str) -> None:
    rules = OverlayRules(numbers=NumberForm.DIGITS)

    assert render(words_of(line), lang, Style.FLUENT, sentence_start=True, overlays=rules).text == text
