"""Words to pieces: the rules of the file, and agreement with the tokenizer library that BERT is published with."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.core.language.normalisation import model_view
from caesura.worker.inference.model.wordpiece import ACCENTED, WordPiece

VOCABULARY_FILE = Path(__file__).parents[3] / "models" / "shipped" / "en" / "vocabulary.txt"
VOCABULARY = ["[PAD]", "[UNK]", "un", "##aff", "##able", "aff", "'", "t", "don", "caf", "##e", "3", ".", "5", "\u4e2d"]


def names(word: str, *, max_pieces: int = 8) -> list[str]:
    return [VOCABULARY[number] for number in WordPiece(VOCABULARY, max_pieces=max_pieces).pieces(word)]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("unaffable", ["un", "##aff", "##able"]),
        ("don't", ["don", "'", "t"]),
        ("3.5", ["3", ".", "5"]),
        ("caf\u00e9", ["caf", "##e"]),
        ("unheard", ["[UNK]"]),
        ("", ["[UNK]"]),
        ("\u4e2d\u4e2d", ["\u4e2d", "\u4e2d"]),
        ("don" + "'" * 20, ["don", *["'"] * 7]),
    ],
)
def test_a_word_is_cut_at_marks_and_matched_longest_first(word: str, pieces: list[str]) -> None:
    assert names(word) == pieces


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("t\u00fa", ["t\u00fa"]),
        ("tu\u0301", ["t\u00fa"]),
        ("tu", ["tu"]),
        ("l'\u00e9t\u00e9", ["l'", "\u00e9", "##t\u00e9"]),
        ("n'", ["[UNK]"]),
        ("3,5", ["3", ",", "5"]),
        ("", ["[UNK]"]),
    ],
)
def test_a_vocabulary_with_accents_tells_them_apart_and_keeps_an_apostrophe(word: str, pieces: list[str]) -> None:
    vocabulary = ["[UNK]", ACCENTED, "t\u00fa", "tu", "l'", "\u00e9", "##t\u00e9", "3", ",", "5"]
    assert [vocabulary[number] for number in WordPiece(vocabulary, max_pieces=8).pieces(word)] == pieces


def test_a_word_has_at_least_one_and_at_most_so_many_pieces() -> None:
    assert names("unaffable", max_pieces=2) == ["un", "##aff"]
    assert names("\u0301") == ["[UNK]"]


def test_a_run_of_more_than_a_hundred_characters_is_unknown() -> None:
    assert names("un" + "aff" * 33 + "able") == ["[UNK]"]


class Encoding(Protocol):
    ids: list[int]


class Published(Protocol):
    def encode(self, text: str, *, add_special_tokens: bool) -> Encoding: ...


@pytest.fixture(scope="module")
def published() -> Published:
    tokenizers = pytest.importorskip("tokenizers")
    numbers = {piece: number for number, piece in enumerate(shipped_vocabulary())}
    tokenizer: Published = tokenizers.BertWordPieceTokenizer(numbers, lowercase=True, strip_accents=True)
    return tokenizer


def shipped_vocabulary() -> list[str]:
    return VOCABULARY_FILE.read_text(encoding="utf-8").rstrip("\n").split("\n")


SCRIPTS = st.one_of(
    # Scripts on whose characters the library's Unicode tables and Python's agree.
    st.characters(max_codepoint=0x052F, exclude_categories=["Cs", "Co", "Cn"]),
    st.characters(min_codepoint=0x2000, max_codepoint=0x22FF, exclude_categories=["Cs", "Co", "Cn"]),
    st.characters(min_codepoint=0x3000, max_codepoint=0x9FA5, exclude_categories=["Cs", "Co", "Cn"]),
    st.characters(min_codepoint=0x1F300, max_codepoint=0x1F5FF, exclude_categories=["Cs", "Co", "Cn"]),
)
OURS = WordPiece(shipped_vocabulary(), max_pieces=64)


@settings(deadline=None)
@given(st.text(alphabet=SCRIPTS, min_size=1, max_size=20))
def test_every_view_has_the_pieces_that_the_published_tokenizer_gives_it(published: Published, text: str) -> None:
    view = model_view("".join(text.split()))
    expected = published.encode(view, add_special_tokens=False).ids
    assert list(OURS.pieces(view)) == (expected[:64] or [OURS.number("[UNK]")])
