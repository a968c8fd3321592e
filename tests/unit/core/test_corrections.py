"""What a speaker corrects goes whole, where a model tags only part of it; pieces of a word go before the word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Disfluency
from caesura.worker.core.decoding.corrections import take_back_pieces
from caesura.worker.core.decoding.kept_words import guard_tags
from tests.unit.core.tagged_lines import left_out

DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
CUES = ("i mean", "no", "sorry", "no wait", "um no", "actually")
PIECES = {"w": "we", "sh": "she", "th": "then", "c": "could", "b": "but"}


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("turn it up {i {mean down", "up i mean"),
        ("the red one {no the blue one", "the red one no"),
        ("see you on monday {um {sorry on friday", "on monday um sorry"),
        ("ask him {um her", "him um"),
        ("a window [seat {no an aisle seat", "a window seat no"),
        ("bring a [cup {um a glass", "a cup um"),
        ("feed the [cat the dog", "the cat"),
        ("it is [my uncle {i {mean my aunt", "my uncle i mean"),
        ("ask [the tall man {sorry the woman", "the tall man sorry"),
        ("给 我 红色 的 {不对 蓝色 的", "红色 的 不对"),
        ("[she she she she left", "she she she"),
        ("[我 [去年 {不对 前年 来 的", "去年 不对"),
    ],
)
def test_a_correction_takes_back_the_whole_of_what_it_corrects(line: str, gone: str) -> None:
    assert left_out(line) == gone


@pytest.mark.parametrize(
    "line",
    [
        "it is not up {i {mean down",
        "we went up sorry down the road",
        "from monday {um to friday",
        "she lent him {um a book",
        "the end of the day {no one knew",
        "monday {um friday and sunday",
        "bring a cup {um a glass",
        "it is my uncle {i {mean my aunt",
        "she she she left",
    ],
)
def test_words_that_no_term_corrects_stay(line: str) -> None:
    gone = set(left_out(line).split())
    assert gone <= {"um", "i", "mean", "no"}


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("w w we left", "w w"),
        ("he d doesn't know", "d"),
        ("sh sh she left", "sh sh"),
        ("then it's c c cold", "c c"),
        ("plan b but not plan a", ""),
        ("vitamin c can help", ""),
        ("the code is b b c cat", ""),
        ("a an i is", ""),
        ("s s n number", ""),
        ("we ba baked bread", "ba"),
        ("the po postman rang", "po"),
        ("we do double work", ""),
        ("no la lakeside", ""),
        ("a sta stay", ""),
        ("you re ready", ""),
        ("i re remember", "re"),
    ],
)
def test_pieces_of_a_word_go_before_it(line: str, gone: str) -> None:
    words = line.split()
    tags = bytearray(len(words))
    take_back_pieces(words, tags, 0)
    assert " ".join(word for word, tag in zip(words, tags, strict=True) if tag) == gone


@given(
    wrong=st.sampled_from(DAYS),
    right=st.sampled_from(DAYS),
    cue=st.sampled_from(CUES),
    lead=st.sampled_from(("", "on")),
)
def test_a_corrected_day_is_left_out_unless_repeated(wrong: str, right: str, cue: str, lead: str) -> None:
    """Where a model tags the cue, the fluent text holds the second day, and the first only if they are equal."""
    line = f"we meet {lead} {wrong} {' '.join('{' + word for word in cue.split())} {lead} {right}"
    gone = left_out(line).split()
    assert (wrong in gone) == (wrong != right)
    assert gone.count(right) == 0 or wrong == right


@given(
    piece=st.sampled_from(sorted(PIECES)), times=st.integers(2, 4), before=st.lists(st.sampled_from(("today", "so")))
)
def test_only_repeated_fragments_are_left_out(piece: str, times: int, before: list[str]) -> None:
    words = [*before, *[piece] * times, PIECES[piece], "went"]
    tags = bytearray(len(words))
    take_back_pieces(words, tags, 0)
    guard_tags(words, bytes(len(words)), tags, 0, len(words))
    pieces = range(len(before), len(before) + times)
    assert [place for place, tag in enumerate(tags) if tag] == list(pieces)
    assert tags[pieces.start] == Disfluency.B_RM


@given(article=st.sampled_from(("a", "the", "my")), cue=st.sampled_from(("", "{um", "{no", "{i {mean")))
def test_no_article_stays_before_what_repairs_its_noun(article: str, cue: str) -> None:
    assert left_out(f"bring {article} [cup {cue} {article} glass").split()[:2] == [article, "cup"]
