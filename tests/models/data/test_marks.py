from __future__ import annotations

import pytest

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument, move_marks
from caesura.models.data.marks import read_marks
from caesura.schemas.labels import Disfluency, Punctuation

NONE, COMMA, PERIOD, QUESTION = (int(Punctuation(k)) for k in range(4))


def marks(line: str) -> list[tuple[str, int]]:
    return [(word.view, word.mark) for word in read_marks(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Well, we left.", [("well", COMMA), ("we", NONE), ("left", PERIOD)]),
        ("Two things: tea; bread!", [("two", NONE), ("things", COMMA), ("tea", PERIOD), ("bread", PERIOD)]),
        ("Tea -- or bread?", [("tea", COMMA), ("or", NONE), ("bread", QUESTION)]),
        ("Tea\u2014or bread.", [("tea", COMMA), ("or", NONE), ("bread", PERIOD)]),
        ("He said \u201cgo home.\u201d", [("he", NONE), ("said", NONE), ("go", NONE), ("home", PERIOD)]),
        ("It's 3.5 km, right?!", [("it's", NONE), ("3.5", NONE), ("km", COMMA), ("right", QUESTION)]),
    ],
)
def test_every_mark_of_a_text_becomes_one_of_three(line: str, expected: list[tuple[str, int]]) -> None:
    assert marks(line) == expected


def test_an_ellipsis_ends_a_sentence_only_before_a_capital() -> None:
    assert marks("We could... go. Maybe\u2026 Yes.") == [
        ("we", NONE),
        ("could", COMMA),
        ("go", PERIOD),
        ("maybe", PERIOD),
        ("yes", PERIOD),
    ]


def test_a_title_and_an_abbreviation_in_a_sentence_do_not_end_it() -> None:
    assert [mark for _, mark in marks("Dr. Moss moved to the U.S. in May.")] == [0, 0, 0, 0, 0, 0, 0, PERIOD]


def test_the_last_word_of_a_line_without_a_mark_is_unknown() -> None:
    assert marks("and then she")[-1] == ("she", UNKNOWN)
    assert marks("and then she --")[-1] == ("she", UNKNOWN)


def test_a_mark_on_a_deleted_word_moves_to_the_last_fluent_word_and_never_weakens_one() -> None:
    document = AlignedDocument("made up", "one")
    for word, mark, tag in (
        ("yes", COMMA, Disfluency.O),
        ("um", PERIOD, Disfluency.B_IM),
        ("fine", PERIOD, Disfluency.O),
        ("uh", COMMA, Disfluency.B_IM),
        ("bye", PERIOD, Disfluency.O),
    ):
        document.add(word, int(mark), int(tag))
    move_marks(document)
    assert document.punctuation == [PERIOD, NONE, PERIOD, NONE, PERIOD]


def test_a_comma_that_set_off_a_repair_goes_and_a_full_stop_there_moves() -> None:
    document = AlignedDocument("made up", "one")
    for word, mark, tag in (
        ("and", NONE, Disfluency.O),
        ("we", COMMA, Disfluency.B_RM),
        ("er", COMMA, Disfluency.B_IM),
        ("we", NONE, Disfluency.O),
        ("left", NONE, Disfluency.O),
        ("um", COMMA, Disfluency.B_IM),
        ("at", COMMA, Disfluency.B_RM),
        ("at", NONE, Disfluency.O),
        ("noon", NONE, Disfluency.O),
        ("it", PERIOD, Disfluency.B_RM),
        ("good", PERIOD, Disfluency.O),
    ):
        document.add(word, mark, int(tag))
    move_marks(document)
    marked = [word for word, mark in zip(document.words, document.punctuation, strict=True) if mark == COMMA]
    assert marked == ["left"]
    assert document.punctuation[-3:] == [PERIOD, NONE, PERIOD]
