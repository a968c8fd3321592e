"""The page for translators: its Python runs and does what it says."""

from __future__ import annotations

import json

from msgspec import structs

from caesura.schemas.segments import Cause, TranslationSegment
from tests.harness.pages import TRANSLATION, defined_by, python_blocks
from tests.harness.segments import a_translation, timed_segment


def _piece(text: str, cause: Cause = Cause.SETTLED) -> TranslationSegment:
    words = timed_segment(("so", "none", 0, 300)).words
    return structs.replace(a_translation(words, text), cause=cause)


def test_settled_pieces_are_joined_until_a_mark_or_a_pause_and_no_word_twice() -> None:
    joined = defined_by(TRANSLATION, "joined")["joined"]
    pieces = [
        _piece("So I think"),
        _piece("that we go,"),
        _piece(""),
        _piece("and then"),
        _piece("back", Cause.SILENCE),
    ]
    assert [joined(piece) for piece in pieces] == ["", "So I think that we go,", "", "", "and then back"]


def test_a_log_has_the_translations_in_place_of_the_texts() -> None:
    translated = defined_by(TRANSLATION, "translated")["translated"]
    segments = [{"text": "So.", "delay": 900, "elapsed": 910}, {"text": "Yes.", "delay": 1_500, "elapsed": 1_520}]
    line = json.dumps({"prediction": "So. Yes.", "delays": [900, 1_500], "elapsed": [910, 1_520], "segments": segments})
    log = json.loads(translated(line, {"So.": "Et alors ?", "Yes.": "Oui."}.__getitem__))
    assert log["prediction"] == "Et alors ? Oui."
    assert log["delays"] == [900, 900, 900, 1_500]
    assert log["elapsed"] == [910, 910, 910, 1_520]


def test_a_cloud_translator_is_told_the_segments_before() -> None:
    defined = defined_by(TRANSLATION, "request")
    asked = []
    for text in ("One.", "Two.", "Three.", "Four."):
        for _ in range(2):  # a request that is tried again has the same context
            request = json.loads(defined["request"]("s", text).data)
        asked.append(request)
        defined["BEFORE"]["s"].append(text)
    assert [one["text"] for one in asked] == [["One."], ["Two."], ["Three."], ["Four."]]
    assert [one["context"] for one in asked] == ["", "One.", "One. Two.", "Two. Three."]


def test_the_consumers_are_python() -> None:
    for block in python_blocks(TRANSLATION):
        compile(block, "docs/translation.md", "exec")
