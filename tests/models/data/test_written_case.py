"""The third head's labels: how a text writes its words, and where that says nothing of the word."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.marks import read_marks
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.recogniser_errors import MisheardWords
from caesura.schemas.labels import Casing
from tests.harness.models.networks import document, tokenizer

SMALL, FIRST, ALL = int(Casing.SMALL), int(Casing.CAPITAL_FIRST), int(Casing.ALL_CAPITALS)


def casing(line: str) -> list[int]:
    return [word.casing for word in read_marks(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("We met Tom in Oslo.", [UNKNOWN, SMALL, FIRST, SMALL, FIRST]),
        ("I know. I'm here.", [FIRST, SMALL, FIRST, SMALL]),
        ("It is on TV. NATO knows.", [UNKNOWN, SMALL, SMALL, ALL, ALL, SMALL]),
        ('He said: "Go home, Mr. Hill."', [UNKNOWN, SMALL, UNKNOWN, SMALL, FIRST, FIRST]),
        ("Well -- The cat... The dog saw 12.", [UNKNOWN, UNKNOWN, SMALL, UNKNOWN, SMALL, SMALL, UNKNOWN]),
        ("My iPhone rang.", [UNKNOWN, int(Casing.AS_GIVEN), SMALL]),
    ],
)
def test_a_capital_that_a_sentence_s_start_may_have_made_says_nothing(line: str, expected: list[int]) -> None:
    assert casing(line) == expected


def test_a_word_that_was_taken_for_another_has_no_known_case() -> None:
    made = document(40)
    made.casing = [SMALL] * len(made.words)
    heard = MisheardWords(["the", "thee", "cat", "cut", "saw", "sow"]).heard(made, _AlwaysWrong(), rate=1.0)
    changed = [k for k, (word, said) in enumerate(zip(made.words, heard.words, strict=False)) if word != said]
    assert changed
    assert {heard.casing[k] for k in changed} == {UNKNOWN}
    assert SMALL in heard.casing


def test_the_case_is_packed_and_text_packed_before_there_was_one_has_none(tmp_path: Path) -> None:
    made = document(3)
    made.casing[0] = ALL
    text = pack([made], tokenizer())
    assert text.casing[0] == ALL
    assert (text.casing[1:] == UNKNOWN).all()
    assert PackedText.joined([text, text]).casing[text.words] == ALL
    text.save(tmp_path / "text.npz")
    with np.load(tmp_path / "text.npz") as arrays:
        np.savez(tmp_path / "older.npz", **{name: arrays[name] for name in arrays if name != "casing"})
    assert PackedText.load(tmp_path / "text.npz").casing[0] == ALL
    assert (PackedText.load(tmp_path / "older.npz").casing == UNKNOWN).all()


class _AlwaysWrong(random.Random):
    """Draws so that each word is taken for another where there is one."""

    def random(self) -> float:
        return 0.9
