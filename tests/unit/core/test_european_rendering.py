"""How Spanish questions open, how French ones are spaced, and German, Spanish and French fillers are left out."""

from __future__ import annotations

import pytest

from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel
from caesura.worker.core.rendering.rendering import Style, render
from caesura.worker.core.rendering.typography import bare
from tests.unit.core.tagged_lines import words_of

SPACED = OverlayRules(french_spaces=True)


def fluent(line: str, *, sentence_start: bool = True) -> str:
    return render(words_of(line), "es-MX", Style.FLUENT, sentence_start=sentence_start).text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("dónde vives|?", "¿Dónde vives?"),
        ("eso fue ayer|, no|?", "Eso fue ayer, ¿no?"),
        ("no fue ayer|, verdad|?", "No fue ayer, ¿verdad?"),
        ("perdón|, a qué hora llega|?", "Perdón, ¿a qué hora llega?"),
        ("cuando llegues|, qué haces|?", "Cuando llegues, ¿qué haces?"),
        ("sí|. y tú vienes|?", "Sí. ¿Y tú vienes?"),
        ("vienes|? no|?", "¿Vienes? ¿No?"),
        ("eh|IM me oye|?", "¿Me oye?"),
        ("¿Me oye?|?", "¿Me oye?"),
        ("no|, no quiero ir|?", "¿No, no quiero ir?"),
    ],
)
def test_a_spanish_question_opens_where_it_is_asked(line: str, text: str) -> None:
    assert fluent(line) == text


def test_a_question_whose_beginning_went_out_before_is_not_opened() -> None:
    assert fluent("vives aquí|? sí|.", sentence_start=False) == "vives aquí? Sí."
    assert fluent("vives aquí|. dónde|?", sentence_start=False) == "vives aquí. ¿Dónde?"


def test_an_opening_sign_stands_behind_fillers_and_outside_of_every_span() -> None:
    shown = render(words_of("eh|IM cómo está|?"), "es", Style.MARKED, sentence_start=True)
    assert shown.text == "{Eh} ¿cómo está?"
    assert [shown.text[start:end] for _, start, end in shown.spans] == ["Eh", "cómo", "está"]


def test_without_marks_of_ours_a_recogniser_s_own_stay() -> None:
    words = words_of("¿Vienes? sí|.")
    assert render(words, "es", Style.FLUENT, sentence_start=True, replace_marks=False).text == "¿Vienes? sí"


def test_opening_signs_of_a_recogniser_are_no_part_of_a_word() -> None:
    assert (bare("¿Qué"), bare("¡Hola!"), bare("«¿Qué?»")) == ("Qué", "Hola", "«Qué»")


@pytest.mark.parametrize(("lang", "text"), [("fr-FR", "Tu viens, non\u202f?"), ("en", "Tu viens, non?")])
def test_a_french_question_mark_has_its_space_where_it_is_wanted(lang: str, text: str) -> None:
    words = words_of("tu viens|, non|?")
    shown = render(words, lang, Style.MARKED, sentence_start=True, overlays=SPACED)
    assert shown.text == text
    assert [shown.text[start:end] for _, start, end in shown.spans] == ["Tu", "viens", "non"]
    assert render(words, lang, Style.MARKED, sentence_start=True).text == "Tu viens, non?"


@pytest.mark.parametrize(
    ("line", "lang"), [("ja äh|IM gut|.", "de"), ("oui euh|IM bon|.", "fr"), ("sí eh|IM bueno|.", "es")]
)
def test_a_filler_that_is_a_sound_goes_at_the_lightest_cleaning(line: str, lang: str) -> None:
    words = words_of(line)
    shown = render(words, lang, Style.FLUENT, sentence_start=False, cleaning=Cleaning(level=CleaningLevel.LIGHT))
    assert shown.text == f"{words[0].text} {words[2].text}."
