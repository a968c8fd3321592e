"""Sentences made from frames: what they are tagged as, and that none of the regression list's is among them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from models.data.aligned_words import AlignedDocument
from models.data.spoken_frames import EARNEST, REPAIRED
from models.data.spoken_patterns import _add, pattern_documents
from models.evaluation.regression.cases import FLUENT, read_cases
from schemas.labels import Disfluency, Punctuation
from worker.core.normalisation import model_view

O, B_RM, I_RM, B_IM, I_IM = (int(tag) for tag in Disfluency)  # noqa: E741 - the tags' own names


@pytest.mark.parametrize(
    ("sentence", "tags", "marks"),
    [
        ("Park [on the] {no sorry} at the bank.", [O, B_RM, I_RM, B_IM, I_IM, O, O, O], [0] * 7 + [2]),
        ("She had had lunch, then left.", [O] * 6, [0, 0, 0, 1, 0, 2]),
        ("{Uh} [it] it is late?", [B_IM, B_RM, O, O, O], [0, 0, 0, 0, 3]),
    ],
)
def test_brackets_and_braces_are_tags_and_marks_are_the_frames_own(
    sentence: str, tags: list[int], marks: list[int]
) -> None:
    document = AlignedDocument("patterns", "one")
    _add(document, sentence)
    assert document.disfluency == tags
    assert document.punctuation == marks
    assert document.turn_ends == {len(tags) - 1}


def test_the_documents_are_the_same_every_time_and_hold_both_kinds() -> None:
    first, second = list(pattern_documents(documents=20)), list(pattern_documents(documents=20))
    assert [one.words for one in first] == [one.words for one in second]
    tags = [tag for document in first for tag in document.disfluency]
    assert 0.05 < sum(tag != O for tag in tags) / len(tags) < 0.3
    ends = [document.punctuation[end] for document in first for end in document.turn_ends]
    assert set(ends) == {int(Punctuation.PERIOD), int(Punctuation.QUESTION)}


def test_no_frame_leaves_a_sign_of_its_notation() -> None:
    said = {word for document in pattern_documents() for word in document.words}
    assert not [word for word in said if any(sign in word for sign in "()[]{}<>|")]
    assert len(EARNEST) + len(REPAIRED) > 70


def test_no_sentence_of_the_regression_list_is_made() -> None:
    listed = {
        tuple(view for word in case.units if (view := model_view(word)))
        for case in read_cases("en")
        if case.section != FLUENT
    }
    made: set[tuple[str, ...]] = set()
    for document in pattern_documents():
        starts = [*document.sentence_starts(), len(document.words)]
        made |= {tuple(document.words[start:end]) for start, end in pairwise(starts)}
    assert len(listed) > 100
    assert not listed & made
