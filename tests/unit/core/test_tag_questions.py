"""A question behind a statement has a comma before it; a question of its own keeps its sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Punctuation
from caesura.worker.core.decoding.tag_questions import mark_tag_questions
from tests.unit.core.tagged_lines import MARKS

SIGNS = {mark.value: sign for sign, mark in MARKS.items()} | {0: ""}


def marked(line: str, first: int = 0) -> str:
    words = [token.rstrip("".join(MARKS)) for token in line.split()]
    marks = bytearray(MARKS.get(token[-1], Punctuation.NONE) for token in line.split())
    mark_tag_questions(words, marks, first)
    return " ".join(word + SIGNS[mark] for word, mark in zip(words, marks, strict=True))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("it is late. isn't it?", "it is late, isn't it?"),
        ("it is late isn't it?", "it is late, isn't it?"),
        ("nobody rang. did they?", "nobody rang, did they?"),
        ("we don't pay. do we?", "we don't pay, do we?"),
        ("let's eat. shall we?", "let's eat, shall we?"),
        ("you saw it? right?", "you saw it, right?"),
    ],
)
def test_a_tag_question_has_a_comma_before_it(line: str, expected: str) -> None:
    assert marked(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "i don't know. do you?",
        "we ate. did you?",
        "why isn't it?",
        "tell me why don't you?",
        "are you there? isn't it?",
        "it is late. isn't it odd?",
        "it is late, isn't it?",
        "late. isn't it?",
        "is it here? right?",
    ],
)
def test_a_standalone_question_is_unchanged(line: str) -> None:
    assert marked(line) == line


def test_known_words_keep_their_marks() -> None:
    assert marked("it is late. isn't it?", first=3) == "it is late. isn't it?"


WORDS = st.sampled_from("it is isn't you do don't never late right nobody they".split())  # noqa: SIM905


@given(said=st.lists(st.tuples(WORDS, st.sampled_from(["", *MARKS])), max_size=12), first=st.integers(0, 12))
def test_only_commas_before_questions_are_set(said: list[tuple[str, str]], first: int) -> None:
    line = [word + sign for word, sign in said]
    for place, (before, after) in enumerate(zip(line, marked(" ".join(line), first).split(), strict=True)):
        if before != after:
            assert place >= first
            assert after.endswith(",")
            assert any(token.endswith("?") for token in line[place + 1 : place + 3])
