"""``caesura punctuate``: one line one session, words untouched, by the streaming core."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.commands.punctuate import Lines
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.rendering.rendering import Style

WORDS = "so we tried it-stop um did it work-ask yes-comma and then we all went home again to sleep on it-stop\n"


def lines(style: Style | None, lang: str = "en", *, hashed: bool = False) -> Lines:
    engine = ScriptedEngine() if hashed else ScriptedEngine(script=marked_words)
    return Lines(engine=engine, lang=lang, rules=DecodingRules(), style=style)


def test_marks_are_restored_and_fillers_left_out() -> None:
    assert lines(Style.FLUENT).punctuated(WORDS, session="a") == (
        "So we tried it-stop. Did it work-ask? Yes-comma, and then we all went home again to sleep on it-stop.\n"
    )


def test_every_word_is_there_where_it_is_asked_for() -> None:
    assert "{um}" in lines(Style.MARKED).punctuated(WORDS, session="a").lower()


def test_json_lines_hold_every_published_segment_with_its_words_as_they_came() -> None:
    segments = [json.loads(line) for line in lines(None).punctuated(WORDS, session="a").splitlines()]
    words = [word for segment in segments for word in segment["words"]]
    assert [word["text"] for word in words] == WORDS.split()
    assert words[3] == {"text": "it-stop", "punctuation": "period", "disfluency": "O"}
    assert words[4]["disfluency"] == "B-IM"
    assert [segment["cause"] for segment in segments] == ["sentence", "sentence", "end"]
    assert [segment["index"] for segment in segments] == [0, 1, 2]


@pytest.mark.parametrize("style", [Style.FLUENT, Style.MARKED, Style.VERBATIM])
def test_an_empty_line_stays_an_empty_line(style: Style) -> None:
    assert lines(style).punctuated("\n", session="a") == "\n"


def test_an_empty_line_publishes_nothing() -> None:
    assert lines(None).punctuated(" \n", session="a") == ""


def test_chinese_has_marks_and_no_spaces() -> None:
    text = lines(Style.MARKED, "zh", hashed=True).punctuated("今天 天气 怎么样 我们 去 公园 走走 吧\n", session="a")
    assert " " not in text


def test_a_language_without_a_model_keeps_its_words() -> None:
    assert lines(Style.FLUENT, "fr").punctuated("bonjour à tous\n", session="a") == "bonjour à tous\n"


@given(
    line=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9), max_size=60).map(
        "  ".join
    ),
    lang=st.sampled_from(["en", "zh", "fr"]),
)
def test_verbatim_is_the_line_byte_for_byte(line: str, lang: str) -> None:
    assert lines(Style.VERBATIM, lang, hashed=True).punctuated(line, session="a") == line
