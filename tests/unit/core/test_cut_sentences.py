"""A sentence that a model cuts in two is one; a sentence of its own stays one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Punctuation
from caesura.worker.core.decoding.cut_sentences import join_cut_sentences
from tests.unit.core.tagged_lines import MARKS

SIGNS = {mark.value: sign for sign, mark in MARKS.items()} | {0: ""}


def joined(line: str, first: int = 0) -> str:
    words = [token.rstrip("".join(MARKS)) for token in line.split()]
    marks = bytearray(MARKS.get(token[-1], Punctuation.NONE) for token in line.split())
    join_cut_sentences(words, marks, first)
    return " ".join(word + SIGNS[mark] for word, mark in zip(words, marks, strict=True))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("he asks. who is it?", "he asks, who is it?"),
        ("we asked her. who is it?", "we asked her, who is it?"),
        ("they said. come back soon.", "they said, come back soon."),
        ("stand up. everybody.", "stand up, everybody."),
        ("dad. the soup is cold.", "dad, the soup is cold."),
        ("the bus leaves. now.", "the bus leaves now."),
        ("i have no idea. who rang.", "i have no idea who rang."),
        ("when i say soon i mean today.", "when i say soon, i mean today."),
        ("by soon. i mean today.", "by soon i mean today."),
        ("it is free. why not.", "it is free. why not?"),
    ],
)
def test_a_sentence_cut_in_two_is_joined(line: str, expected: str) -> None:
    assert joined(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "he asked. the bus was late.",
        "so she said. come back soon.",
        "who rang? dad. he was cold.",
        "is it you? dad?",
        "when is it? now.",
        "we fly tomorrow. tomorrow.",
        "i have no idea. who rang?",
        "that is what i say. i mean it.",
        "stand by. i mean it.",
        "we stood by the old door. i mean it.",
        "he knows why not.",
    ],
)
def test_a_sentence_of_its_own_stays(line: str) -> None:
    assert joined(line) == line


def test_known_words_keep_their_marks() -> None:
    assert joined("they said. come back.", first=2) == "they said. come back."


WORDS = st.sampled_from("he said asked me dad now i mean when say by no idea who so what".split())  # noqa: SIM905


@given(said=st.lists(st.tuples(WORDS, st.sampled_from(["", *MARKS])), max_size=12), first=st.integers(0, 12))
def test_joining_again_changes_no_mark(said: list[tuple[str, str]], first: int) -> None:
    line, first = " ".join(word + sign for word, sign in said), min(first, len(said))
    once = joined(line, first)
    assert once.split()[:first] == line.split()[:first]
    assert joined(once, first) == once
