from __future__ import annotations

import random

import pytest

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.derived_tags import derive_tags
from caesura.models.data.disfluencies import FUNCTION_WORDS, NUMBER_WORDS, insert_disfluencies
from caesura.models.data.disfluent_pairs import _tags
from caesura.models.data.marks import read_marks
from caesura.schemas.labels import Disfluency, Punctuation

FLUENT, B_RM, I_RM, B_IM, I_IM = (int(tag) for tag in Disfluency)


def fluent_document(sentences: int) -> AlignedDocument:
    document = AlignedDocument("made up", "fluent")
    for number in range(sentences):
        words = f"we went to the market on day {number} , and then we came back home with a basket of pears .".split()
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word not in ",.":
                document.add(word, {",": 1, ".": 2}.get(following, 0), FLUENT)
    return document


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("So, um, we left.", [FLUENT, B_IM, FLUENT, FLUENT]),
        ("I saw the the house.", [FLUENT, FLUENT, B_RM, FLUENT, FLUENT]),
        ("We can we can wait.", [B_RM, I_RM, FLUENT, FLUENT, FLUENT]),
        ("That is very very good.", [FLUENT, FLUENT, FLUENT, FLUENT, FLUENT]),
        ("He had had enough.", [FLUENT, FLUENT, FLUENT, FLUENT]),
        ("Uh huh, uh I know.", [FLUENT, FLUENT, B_IM, FLUENT, FLUENT]),
        ("It went on and on and on.", [FLUENT] * 7),
        ("Hours and hours and nobody came.", [FLUENT] * 6),
        ("And again and again it failed.", [FLUENT] * 6),
        ("And then and then it failed.", [B_RM, I_RM, FLUENT, FLUENT, FLUENT, FLUENT]),
        ("We and we and they came.", [B_RM, I_RM, FLUENT, FLUENT, FLUENT, FLUENT]),
        ("It was, you know, late.", [FLUENT, FLUENT, B_IM, I_IM, FLUENT]),
        ("Do you know it?", [FLUENT, FLUENT, FLUENT, FLUENT]),
        ("She says you know it.", [FLUENT, FLUENT, UNKNOWN, UNKNOWN, FLUENT]),
    ],
)
def test_only_what_the_text_itself_shows_is_tagged(line: str, tags: list[int]) -> None:
    assert derive_tags(read_marks(line), verbatim=False) == tags


def test_a_verbatim_sentence_that_shows_a_disfluency_may_hide_more() -> None:
    tags = derive_tags(read_marks("We uh we left. It was late."), verbatim=True)
    assert tags == [UNKNOWN, B_IM, UNKNOWN, UNKNOWN, FLUENT, FLUENT, FLUENT]


def test_a_number_is_never_said_twice_or_repaired_without_a_word_between() -> None:
    document = AlignedDocument("made up", "numbers")
    for _ in range(400):
        for word in ("it", "is", "two", "hundred", "and", "forty", "one", "miles"):
            document.add(word, Punctuation.PERIOD if word == "miles" else Punctuation.NONE, FLUENT)
    noisy = insert_disfluencies(document, random.Random(1), share=1.0)
    taken_back = [k for k, tag in enumerate(noisy.disfluency) if tag in (B_RM, I_RM)]
    assert len(taken_back) > 50
    for k in taken_back:
        if noisy.words[k] in NUMBER_WORDS and noisy.disfluency[k + 1] == FLUENT:
            assert noisy.words[k + 1] not in NUMBER_WORDS


def test_taking_the_inserted_words_away_gives_the_fluent_text_back() -> None:
    document = fluent_document(200)
    noisy = insert_disfluencies(document, random.Random(1), share=1.0)
    kept = [k for k, tag in enumerate(noisy.disfluency) if tag == FLUENT]
    assert len(noisy.words) > len(document.words)
    assert [noisy.words[k] for k in kept] == document.words
    assert [noisy.punctuation[k] for k in kept] == document.punctuation


def test_inserted_words_carry_no_mark_and_their_spans_begin_with_b() -> None:
    noisy = insert_disfluencies(fluent_document(200), random.Random(2), share=1.0)
    before = FLUENT
    for tag, mark in zip(noisy.disfluency, noisy.punctuation, strict=True):
        if tag != FLUENT:
            assert mark == Punctuation.NONE
        if tag in (I_RM, I_IM):
            assert before in (tag - 1, tag)
        before = tag
    assert {B_RM, I_RM, B_IM, I_IM} <= set(noisy.disfluency)


def test_insertion_is_the_same_for_the_same_seed() -> None:
    first, second = (insert_disfluencies(fluent_document(50), random.Random(3), share=0.5) for _ in range(2))
    assert first == second


def test_what_would_be_meant_is_not_inserted_as_a_repetition() -> None:
    document = AlignedDocument("made up", "one")
    for _ in range(3000):
        for word in ("days", "and", "we", "and", "days", "they", "left"):
            document.add(word, Punctuation.NONE, FLUENT)
    tagged = insert_disfluencies(document, random.Random(3), share=1.0)
    runs = zip(*(tagged.words[k:] for k in range(4)), *(tagged.disfluency[k:] for k in range(4)), strict=False)
    said_again = {run[:2] for run in runs if run[:2] == run[2:4] and run[4:] == (B_RM, I_RM, FLUENT, FLUENT)}
    assert ("we", "and") in said_again
    assert not {("days", "and"), ("and", "days")} & said_again


def test_one_word_that_is_no_function_word_is_seldom_said_twice() -> None:
    """People mean "really really" and "five five"; a function word alone is a slip."""
    noisy = insert_disfluencies(fluent_document(2000), random.Random(4), share=1.0)
    alone = [
        noisy.words[k]
        for k in range(1, len(noisy.words) - 1)
        if noisy.words[k] == noisy.words[k + 1] and noisy.disfluency[k] == B_RM and noisy.disfluency[k + 1] == FLUENT
    ]
    others = [word for word in alone if word not in FUNCTION_WORDS]
    assert len(alone) > 300
    assert 0 < len(others) < 0.1 * len(alone)


def test_of_two_copies_the_first_is_the_reparandum() -> None:
    words = read_marks("the plan was to to leave")
    assert _tags(words, ["the", "plan", "was", "to", "leave"], max_words=8) == [
        FLUENT,
        FLUENT,
        FLUENT,
        B_RM,
        FLUENT,
        FLUENT,
    ]


def test_a_deleted_correction_is_reparandum_and_interregnum() -> None:
    words = read_marks("meet me on monday no sorry on friday")
    fluent = ["meet", "me", "on", "friday"]
    assert _tags(words, fluent, max_words=8) == [FLUENT, FLUENT, B_RM, I_RM, B_IM, I_IM, FLUENT, FLUENT]
