"""Overlays in a rendering: where they stand, what they stand for, and that every word is still found."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import NumberForm, SegmentWord
from caesura.worker.core.overlays import rules
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.rendering import Rendered, Style, render
from tests.unit.core.tagged_lines import words_of

_DIGITS = OverlayRules(numbers=NumberForm.DIGITS)
_STYLES = st.sampled_from([Style.MARKED, Style.FLUENT])


def rendered(line: str, style: Style = Style.FLUENT, *, sentence_start: bool = True) -> Rendered:
    return render(words_of(line), "en", style, sentence_start=sentence_start, overlays=_DIGITS)


@pytest.mark.parametrize(
    ("line", "fluent"),
    [
        ("twenty people came|.", "20 people came."),
        ("it cost twenty um|IM two dollars|.", "It cost $22."),
        ("it cost thirty|RM um|IM twenty two dollars|.", "It cost $22."),
        ("born on march first|, nineteen eighty|.", "Born on March 1, 1980."),
        ("ten|, twenty|, thirty|.", "10, 20, 30."),
        ("we had twenty|. five dollars were left|.", "We had 20. $5 were left."),
        ("is it twenty percent|? yes|.", "Is it 20%? Yes."),
        ("it was twenty five", "It was twenty five"),
    ],
)
def test_fluent_text_with_digits(line: str, fluent: str) -> None:
    assert rendered(line).text == fluent


def test_an_overlay_crosses_no_bracket() -> None:
    assert rendered("it costs|RM um|IM cost um|IM twenty two dollars|.", Style.MARKED).text == (
        "It [costs] {um} cost {um} $22."
    )
    assert rendered("it cost twenty um|IM two dollars|.", Style.MARKED).text == "It cost twenty {um} two dollars."


def test_verbatim_is_untouched() -> None:
    assert rendered("it cost twenty dollars|.", Style.VERBATIM).text == "it cost twenty dollars"


def test_where_a_rule_raises_the_words_go_out_as_they_were_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger(rules.__name__)
    monkeypatch.setattr(logger, "propagate", False)  # else the log line fails this test (conftest.py)
    monkeypatch.setattr(logger, "handlers", [caplog.handler])
    monkeypatch.setattr(rules, "english_digits", {}.__getitem__)

    assert rendered("it cost twenty dollars|. we had ten|.").text == "It cost twenty dollars. We had ten."
    assert {(record.levelname, record.exc_info[0]) for record in caplog.records if record.exc_info} == {
        ("ERROR", KeyError)
    }


def test_all_words_of_an_overlay_have_its_place() -> None:
    found = rendered("it cost twenty um|IM two dollars|.")
    (overlay,) = found.overlays

    assert (overlay.kind, overlay.first_word, overlay.last_word) == ("number", 2, 5)
    assert found.text[overlay.start : overlay.end] == "$22"
    assert found.spans == ((0, 0, 2), (1, 3, 7), (2, 8, 11), (4, 8, 11), (5, 8, 11))


_SAID = "one two twenty five hundred thousand and dollars percent may fourth of at oh point people um 3.5".split()  # noqa: SIM905
_WORD = st.builds(
    SegmentWord,
    text=st.sampled_from(_SAID),
    punctuation=st.sampled_from(["none"] * 6 + ["comma", "period"]),
    disfluency=st.sampled_from(["O"] * 6 + ["B-RM", "I-RM", "B-IM"]),
)


@given(st.lists(_WORD, max_size=14), _STYLES, st.booleans())
def test_spans_joined_give_back_the_words_and_marks_stay_where_they_were(
    words: list[SegmentWord], style: Style, start: bool
) -> None:
    plain = render(words, "en", style, sentence_start=start)
    found = render(words, "en", style, sentence_start=start, overlays=_DIGITS)

    assert [index for index, _, _ in found.spans] == [index for index, _, _ in plain.spans]
    covered = {(overlay.start, overlay.end): overlay for overlay in found.overlays}
    as_plain = {index: plain.text[begin:end] for index, begin, end in plain.spans}
    for index, begin, end in found.spans:
        overlay = covered.get((begin, end))
        if overlay is None:
            assert found.text[begin:end] == as_plain[index]
        else:
            assert overlay.first_word <= index <= overlay.last_word
    places = [place for _, begin, end in found.spans for place in (begin, end)]
    assert places == sorted(places) or covered

    inside = {index for overlay in found.overlays for index in range(overlay.first_word, overlay.last_word)}
    marks, marks_found = (
        {index: shown.text[end : end + 1] for index, _, end in shown.spans if index not in inside}
        for shown in (plain, found)
    )
    assert {index: mark for index, mark in marks_found.items() if mark in ".,"} == {
        index: mark for index, mark in marks.items() if mark in ".,"
    }
