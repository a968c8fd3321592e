"""Calls of our own making: what they are labelled as, and that nothing of the tests of speech stands in them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.call_numbers import said, whole
from caesura.models.data.calls import (
    KEPT_OUT,
    SaidWord,
    call_documents,
    calls,
    frames,
    kind_documents,
    kinds,
    run_hashes,
    sentence,
)
from caesura.models.data.spoken_frames import ENGLISH_FRAMES
from caesura.models.evaluation.regression.cases import read_cases
from caesura.schemas.labels import Casing, Disfluency, Punctuation
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.demo.script import TALKS


@cache
def words_of_calls() -> list[SaidWord]:
    return [word for call in calls(60) for turn in call for word in turn]


def shown(words: list[SaidWord]) -> str:
    """Write words with their marks, reparanda in brackets and interregna in braces, each word in its own."""
    signs = ("{}", "[{}]", "[{}]", "{{{}}}", "{{{}}}")
    return " ".join(signs[word.tag].format(word.view) + ("", ",", ".", "?")[word.mark] for word in words)


class Fluent(random.Random):
    """Never slips: every drawn share is too large."""

    def random(self) -> float:
        return 0.999


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("it costs [five pounds] {(sorry|sorry)} six pounds.", "it costs [five] [pounds] {sorry} six pounds."),
        ("(yes|yes). can you hear me?", "yes. can you hear me?"),
        ("so, {uh} that is {(|)} all.", "so, {uh} that is all."),
    ],
)
def test_a_frame_says_its_marks_and_its_slips(frame: str, said: str) -> None:
    assert shown(sentence(frame, Fluent(1))) == said


def test_the_case_of_every_word_that_has_one_is_known() -> None:
    words = sentence("hello Tom, I work for the BBC in room 12.", Fluent(1))
    small, capital, capitals = Casing.SMALL, Casing.CAPITAL_FIRST, Casing.ALL_CAPITALS
    wanted = [small, capital, capital, small, small, small, capitals, small, small, None]
    assert [word.casing for word in words] == wanted


def test_digits_and_letters_take_no_mark_and_numbers_no_sentence_end() -> None:
    for seed in range(40):
        words = sentence("please send it to <address>.", Fluent(seed))
        assert Punctuation.PERIOD not in [word.mark for word in words[:-1]]
        for slot in ("digits", "letters", "code", "run", "sum", "whole", "spokenyear"):
            words = sentence(f"my number is <{slot}>.", Fluent(seed))
            assert {word.mark for word in words[:-1]} == {Punctuation.NONE}, slot


def test_a_number_is_said_over_its_whole_range() -> None:
    assert said(647, joined=True) == "six hundred and forty seven"
    assert said(1_100_005, joined=True) == "one million one hundred thousand and five"
    assert said(20_413) == "twenty thousand four hundred thirteen"
    together = [number for seed in range(200) if (number := whole(random.Random(seed))).split()[1:2] == ["hundred"]]
    assert any(len(number.split()) > 3 for number in together)


def test_a_date_carries_its_year_in_one_sentence() -> None:
    for seed in range(40):
        words = sentence("it ends on <fulldate>.", Fluent(seed))
        assert [word.mark for word in words[:-1]].count(Punctuation.PERIOD) == 0
        assert {word.tag for word in words} == {Disfluency.O}


@pytest.mark.parametrize("kind", ["amount", "date", "code", "relative", "definition", "answer", "twice", "tag", "name"])
def test_a_kind_said_in_earnest_loses_no_word(kind: str) -> None:
    for number, frame in enumerate(kinds()[kind]):
        assert {word.tag for word in sentence(frame, random.Random(number), slips=0)} == {Disfluency.O}, frame


@pytest.mark.parametrize("frame", [*frames()["repair"], *kinds()["repair"], *ENGLISH_FRAMES.repaired])
def test_a_number_is_taken_back_only_with_a_cue_or_a_filler(frame: str) -> None:
    for slot in ("money", "number", "count", "sum", "tens", "digit", "time", "hour", "nth"):
        assert f"<{slot}>] <" not in frame
        assert not re.search(rf"<{slot}>\] \{{[^}}]*\|\)\}}", frame)


def test_calls_are_the_same_every_time_and_of_all_kinds() -> None:
    assert list(calls(3)) == list(calls(3))
    assert list(calls(2, first=1)) == list(calls(3))[1:]
    marks = [word.mark for word in words_of_calls()]
    assert min(marks.count(mark) for mark in (Punctuation.COMMA, Punctuation.PERIOD, Punctuation.QUESTION)) > 500
    assert {word.tag for word in words_of_calls()} == set(Disfluency)
    assert {word.casing for word in words_of_calls()} >= {Casing.SMALL, Casing.CAPITAL_FIRST, Casing.ALL_CAPITALS}
    assert sum(map(len, frames().values())) > 300


def test_no_sign_of_the_notation_is_left() -> None:
    assert not [word for word in words_of_calls() if any(sign in word.view for sign in "()[]{}<>|")]


@pytest.mark.parametrize("documents", [call_documents, kind_documents])
def test_each_turn_of_a_document_ends_a_sentence(documents: Callable[..., Iterator[AlignedDocument]]) -> None:
    for document in documents(documents=20):
        assert all(
            document.punctuation[end] in (Punctuation.PERIOD, Punctuation.QUESTION) for end in document.turn_ends
        )


def test_regression_list_and_demo_script_are_kept_out_of_training() -> None:
    spoken = [case.units for case in read_cases("en")]
    spoken += [tuple(talk.text.split()) for talk in TALKS if talk.lang == "en"]
    wanted = set().union(*(run_hashes([view for word in one if (view := model_view(word))]) for one in spoken))
    assert set(KEPT_OUT.read_text(encoding="utf-8").split()) == wanted


def test_no_turn_shares_five_words_in_a_row_with_what_is_kept_out() -> None:
    kept_out = set(KEPT_OUT.read_text(encoding="utf-8").split())
    for call in calls(200, first=1000):
        for turn in call:
            assert not run_hashes([word.view for word in turn]) & kept_out
