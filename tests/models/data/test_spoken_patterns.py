"""Sentences made from frames: what they are tagged as, and that none of the regression list's is among them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.chinese_frames import CHINESE_FRAMES
from caesura.models.data.chinese_numbers import count_said
from caesura.models.data.spoken_frames import ENGLISH_FRAMES
from caesura.models.data.spoken_patterns import Frames, add_chinese, add_spaced, pattern_documents
from caesura.models.evaluation.regression.cases import FLUENT, read_cases
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.language.normalisation import model_view

O, B_RM, I_RM, B_IM, I_IM = (int(tag) for tag in Disfluency)  # noqa: E741 - the tags' own names
FRAMES = {"en": ENGLISH_FRAMES, "zh": CHINESE_FRAMES}
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def _documents(language: str, count: int = 1600) -> Iterator[AlignedDocument]:
    return pattern_documents(FRAMES[language], add_spaced if language == "en" else add_chinese, documents=count)


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
    add_spaced(document, sentence)
    assert document.disfluency == tags
    assert document.punctuation == marks
    assert document.turn_ends == {len(tags) - 1}


@pytest.mark.parametrize(
    ("sentence", "words", "tags", "marks"),
    [
        ("我[明天]{不是}后天出发。", "我 明天 不是 后天 出发", [O, B_RM, B_IM, O, O], [0, 0, 0, 0, 2]),
        ("[因为]因为下雨，所以没去。", "因为 因为 下雨 所以 没 去", [B_RM] + [O] * 5, [0, 0, 1, 0, 0, 2]),
        ("先吃饭。再走吗？", "先 吃饭 再 走 吗", [O] * 5, [0, 2, 0, 0, 3]),
        ("把[词典]{不对}钥匙拿来。", "把 词典 不 对 钥匙 拿来", [O, B_RM, B_IM, I_IM, O, O], [0] * 5 + [2]),
    ],
)
def test_a_chinese_sentence_is_cut_as_the_worker_cuts_it(
    sentence: str, words: str, tags: list[int], marks: list[int]
) -> None:
    document = AlignedDocument("patterns", "one")
    add_chinese(document, sentence)
    assert document.words == words.split()
    assert document.disfluency == tags
    assert document.punctuation == marks
    assert document.turn_ends == {len(tags) - 1}


def test_a_slot_is_never_filled_twice_alike_and_a_choice_may_be_empty() -> None:
    frames = Frames(earnest=["<one> <one>(| x)."], repaired=["<one> <one>(| x)."], words={"one": ["a", "b"]})
    for document in pattern_documents(frames, add_spaced, documents=20):
        starts = [*document.sentence_starts(), len(document.words)]
        made = {tuple(document.words[start:end]) for start, end in pairwise(starts)}
        assert made == {("a", "b"), ("b", "a"), ("a", "b", "x"), ("b", "a", "x")}


@LANGUAGES
def test_the_documents_are_the_same_every_time_and_hold_both_kinds(language: str) -> None:
    first, second = list(_documents(language, 20)), list(_documents(language, 20))
    assert [one.words for one in first] == [one.words for one in second]
    tags = [tag for document in first for tag in document.disfluency]
    assert 0.05 < sum(tag != O for tag in tags) / len(tags) < 0.3
    ends = [document.punctuation[end] for document in first for end in document.turn_ends]
    assert set(ends) == {int(Punctuation.PERIOD), int(Punctuation.QUESTION)}
    marks = [mark for document in first for mark in document.punctuation]
    assert UNKNOWN not in marks


@pytest.mark.parametrize(("language", "least_frames", "least_listed"), [("en", 149, 100), ("zh", 63, 99)])
def test_no_sign_of_the_notation_and_no_sentence_of_the_regression_list_is_made(
    language: str, least_frames: int, least_listed: int
) -> None:
    assert len(FRAMES[language].earnest) + len(FRAMES[language].repaired) > least_frames
    listed = {
        "".join(view for word in case.units if (view := model_view(word)))
        for case in read_cases(language)
        if case.section != FLUENT
    }
    made: set[str] = set()
    for document in _documents(language):
        assert not set("".join(document.words)) & set("()[]{}<>|")
        starts = [*document.sentence_starts(), len(document.words)]
        made |= {"".join(document.words[start:end]) for start, end in pairwise(starts)}
    assert len(listed) > least_listed
    assert not listed & made


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (12, "十二"),
        (105, "一百零五"),
        (110, "一百一十"),
        (647, "六百四十七"),
        (2005, "二千零五"),
        (10_500, "一万零五百"),
    ],
)
def test_a_chinese_number_is_said_as_people_say_it(value: int, said: str) -> None:
    assert count_said(value) == said
