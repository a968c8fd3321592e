"""The frames' notation: brackets become tags, and go."""

from __future__ import annotations

from caesura.models.data.frame_notation import CHOICE, bare, labelled_spans, tags_of, word_tags
from caesura.schemas.labels import Disfluency

FILLED = "turn [left at] {uh, sorry,} right, please."


def test_brackets_are_tags_of_the_words_in_them() -> None:
    o, rm, im = Disfluency.O, Disfluency.B_RM, Disfluency.B_IM
    assert [(span.strip(), begin) for span, begin in labelled_spans(FILLED)] == [
        ("turn", o),
        ("left at", rm),
        ("", o),
        ("uh, sorry,", im),
        ("right, please.", o),
    ]
    assert word_tags(FILLED) == [o, rm, Disfluency.I_RM, im, Disfluency.I_IM, o, o]
    assert bare(FILLED) == "turn left at uh, sorry, right, please."


def test_a_token_of_marks_alone_is_no_word() -> None:
    assert word_tags("[a ,] {-} b .") == [Disfluency.B_RM, Disfluency.O]
    assert tags_of([], Disfluency.B_IM) == []


def test_the_innermost_choice_is_made_first() -> None:
    found = CHOICE.search("(take (a|b)|leave)")
    assert found is not None
    assert found[1] == "a|b"
