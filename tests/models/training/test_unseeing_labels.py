"""A reader that sees no later word: what it is given to read, what it says after each word, and what that becomes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

pytest.importorskip("torch")

import torch

from caesura.models.__main__ import app
from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.packing import PackedText, pack
from caesura.models.evaluation.false_stops import FlushPoint
from caesura.models.evaluation.reader_scores import reader_scores
from caesura.models.training.causal_reader import FOLLOWING, CausalReader
from caesura.models.training.unseeing_labels import fitted, read_packed, written
from caesura.schemas.labels import Casing, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from tests.harness.models.networks import VOCABULARY, tokenizer

pytestmark = pytest.mark.torch

GROUPS = len(FOLLOWING) + 1
CHARACTERS = [".", "?", ",", " a", " b", "a", "b", "A", "Transcript:\n\n"]


class Characters:
    """A tokenizer of the few things that are written here."""

    def __len__(self) -> int:
        return len(CHARACTERS)

    def __call__(self, text: str) -> SimpleNamespace:
        return SimpleNamespace(input_ids=[CHARACTERS.index(text)])

    def convert_ids_to_tokens(self, numbers: Iterable[int]) -> list[str]:
        return [CHARACTERS[number] for number in numbers]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        return "".join(tokens)


def expecting_a_period_after_b(pieces: torch.Tensor) -> SimpleNamespace:
    """Return states of which each is the row that the vocabulary's scores come from."""
    after_b = torch.isin(pieces, torch.tensor([CHARACTERS.index(" b"), CHARACTERS.index("b")]))
    states = torch.zeros(*pieces.shape, len(CHARACTERS))
    states[..., CHARACTERS.index(" a")] = 9.0 * ~after_b
    states[..., CHARACTERS.index(".")] = 9.0 * after_b
    return SimpleNamespace(last_hidden_state=states)


def test_a_reader_says_after_each_word_what_may_follow_it_and_knows_the_marks_before() -> None:
    head = SimpleNamespace(weight=torch.eye(len(CHARACTERS)))
    reader = CausalReader(SimpleNamespace(model=expecting_a_period_after_b, lm_head=head), Characters())
    said = reader.said(["A", "b", "a"], ["", ".", ""])
    assert said.shape == (3, GROUPS)
    assert said.argmax(axis=1).tolist() == [GROUPS - 1, 0, GROUPS - 1]
    assert np.allclose(np.exp(said).sum(axis=1), 1, atol=1e-3)


class Sure:
    """A reader who expects a period after ``left`` alone, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[list[str], list[str]]] = []

    def said(self, words: Sequence[str], marks: Sequence[str]) -> NDArray[np.float32]:
        self.given.append((list(words), list(marks)))
        said = np.full((len(words), GROUPS), -6.0, dtype=np.float32)
        for row, word in zip(said, words, strict=True):
            row[0 if word.lower() == "left" else GROUPS - 1] = -0.1
        return said


def told(words: str, marks: Sequence[int], casing: Sequence[int] = ()) -> PackedText:
    cut = words.split()
    document = AlignedDocument("c", "d", cut, list(marks), [0] * len(cut), list(casing or [1] * len(cut)))
    return pack([document], tokenizer())


def test_a_text_is_read_as_it_was_written_capitals_and_marks_and_all() -> None:
    text = told("the cafe is it left", [0, 0, 1, 2, 0], [1, Casing.CAPITAL_FIRST, 1, Casing.ALL_CAPITALS, 1])
    words, marks = written(text, VOCABULARY, 0, 5)
    assert (words, marks) == (["The", "Cafe", "is", "IT", "Left"], ["", "", ",", ".", ""])


def test_a_reader_s_words_become_the_classes_that_people_set_after_them() -> None:
    marks = np.array(([Punctuation.NONE] * 3 + [Punctuation.PERIOD]) * 30, dtype=np.int8)
    words = np.array(["go", "on", "and", "left"] * 30)
    said = Sure().said(words.tolist(), [""] * len(words))
    said[:5] = 0  # nothing was said there
    unknown = marks.copy()
    unknown[7] = -1
    rows = fitted(said, unknown, 4)
    assert not rows[:5].any()
    assert rows[5:].argmax(axis=1).tolist() == marks[5:].tolist()
    assert np.allclose(rows[5:].astype(float).sum(axis=1), 1, atol=0.01)


def test_where_too_little_was_read_nothing_is_said() -> None:
    text = told(" ".join(["go"] * 25), [0] * 25)
    said = read_packed(Sure(), text, VOCABULARY, words=18)
    assert [bool(row.any()) for row in said] == [False] * 10 + [True] * 8


def test_labels_are_written_of_the_words_that_were_read_and_what_is_there_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caesura.models.training.causal_reader.opened_reader", lambda *_, **__: Sure())
    told("we saw and left " * 20, ([0] * 3 + [2]) * 20).save(tmp_path / "data/crd3.npz")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (tmp_path / "weights.gguf").write_bytes(b"")
    asked = ["label-unseeing", "--vocabulary", str(tmp_path / "vocab.txt"), "--reader", str(tmp_path / "weights.gguf")]
    asked += ["--data", str(tmp_path / "data"), "--taught", str(tmp_path / "taught"), "--corpus", "crd3"]
    assert CliRunner().invoke(app, [*asked, "--max-words", "60"]).exit_code == 0
    rows = np.load(tmp_path / "taught/crd3.npy")
    assert [bool(row.any()) for row in rows] == [False] * 10 + [True] * 50 + [False] * 20
    assert not rows[:, 4:].any()  # of slips and capitals it says nothing
    CliRunner().invoke(app, [*asked, "--max-words", "20"])
    assert np.array_equal(np.load(tmp_path / "taught/crd3.npy"), rows)


def test_what_reads_the_weights_is_named_where_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    told("we saw", [0, 0]).save(tmp_path / "data/crd3.npz")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (tmp_path / "weights.gguf").write_bytes(b"")
    asked = ["label-unseeing", "--vocabulary", str(tmp_path / "vocab.txt"), "--reader", str(tmp_path / "weights.gguf")]
    asked += ["--data", str(tmp_path / "data"), "--taught", str(tmp_path / "taught"), "--corpus", "crd3"]
    refused = CliRunner().invoke(app, asked)
    assert refused.exit_code == 2
    assert "pip install" in refused.output


def test_a_flush_s_last_word_is_read_after_the_marks_that_the_network_set() -> None:
    def stops(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
        return int(Punctuation.PERIOD if words[position] == "left" else Punctuation.NONE), 0

    reader = Sure()
    points = [FlushPoint(words=("go", "left", "now", "left"), mark=Punctuation.PERIOD)]
    points += [FlushPoint(words=("go", "on"), mark=Punctuation.NONE)]
    said = reader_scores(reader, points, ScriptedEngine(script=stops))
    assert reader.given[0] == (["Go", "left", "Now", "left"], ["", ".", "", ""])
    assert said.argmax(axis=1).tolist() == [Punctuation.PERIOD, Punctuation.NONE]


def test_a_reader_is_asked_of_english_alone(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (tmp_path / "weights.gguf").write_bytes(b"")
    asked = ["stop-line", "--vocabulary", str(tmp_path / "vocab.txt"), "--corpora", str(tmp_path), "--language", "zh"]
    asked += ["--checkpoint", str(tmp_path / "weights.gguf"), "--reader", str(tmp_path / "weights.gguf")]
    refused = CliRunner().invoke(app, asked)
    assert refused.exit_code == 2
    assert "reads English" in refused.output
