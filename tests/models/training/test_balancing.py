"""Marks in balance: what is too careful finds more, what is in balance stays, and nothing else of a network changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from caesura.models.training.balancing import balanced, mean_f1

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.packing import PackedText
from caesura.models.networks.checkpoints import learnt_from, load_network, write_checkpoint
from caesura.models.networks.pieces import LEADING
from caesura.schemas.labels import Disfluency
from tests.harness.models.networks import tiny_config, tiny_network

pytestmark = pytest.mark.torch

_MARKS = 4


def _text(careful_by: float, words: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Return a text whose scores tell the gold mark well, but for ``careful_by`` less for the comma."""
    rng = np.random.default_rng(7)
    gold = rng.choice(_MARKS, size=words, p=(0.8, 0.1, 0.08, 0.02)).astype(np.int8)
    said = rng.normal(0.0, 0.8, size=(words, _MARKS))
    said[np.arange(words), gold] += 2.0
    said[:, 1] -= careful_by
    return said, gold


def test_a_mark_that_is_given_too_seldom_is_given_more_often() -> None:
    texts = {"one": _text(careful_by=0.9)}
    constants = balanced(texts)
    assert constants[0] == 0.0, "no mark is what the others are measured against"
    assert constants[1] > 0.4
    assert mean_f1(texts, constants) > mean_f1(texts, np.zeros(_MARKS)) + 1.0


def test_every_text_counts_alike() -> None:
    long, short = _text(careful_by=0.9, words=8000), _text(careful_by=-1.5, words=400)
    alone, both = balanced({"long": long}), balanced({"long": long, "short": short})
    assert both[1] < alone[1]


def asked_of(tmp_path: Path) -> list[str]:
    """Write a checkpoint that gives hardly any mark and a held-out text; return the command for them."""
    config = tiny_config()
    pieces = [LEADING, *(f"p{number}" for number in range(1, config.vocabulary_size))]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    network = tiny_network(config, seed=3)
    with torch.no_grad():
        network.punctuation.bias[0] += 0.5  # so that it gives hardly any mark
    write_checkpoint(tmp_path / "before.pt", network, {"corpora": ["ami"]})
    words = 300
    rng = np.random.default_rng(5)
    PackedText(
        rng.integers(1, config.vocabulary_size, words).astype(np.uint16),
        np.arange(words + 1),
        rng.choice(config.punctuation_classes, size=words).astype(np.int8),
        np.zeros(words, dtype=np.int8),
        np.zeros(words, dtype=np.bool_),
        np.zeros(words, dtype=np.int8),
    ).save(tmp_path / "held" / "ami.npz")
    asked = ["balance", "--vocabulary", tmp_path / "vocab.txt", "--of", tmp_path / "before.pt"]
    asked += ["--checkpoint", tmp_path / "after.pt", "--data", tmp_path / "held", "--corpus", "ami"]
    return [str(word) for word in asked]


def test_the_command_moves_the_bias_of_the_marks_and_nothing_else(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, asked_of(tmp_path), catch_exceptions=False)
    assert "mean F1" in result.output
    before, after = (load_network(tmp_path / name).state_dict() for name in ("before.pt", "after.pt"))
    changed = [name for name, weights in after.items() if not torch.equal(weights, before[name])]
    assert changed == ["punctuation.bias"]
    assert after["punctuation.bias"][0] == before["punctuation.bias"][0]
    assert learnt_from(tmp_path / "after.pt") == ("ami",)


def test_constants_that_are_given_are_added_as_they_are(tmp_path: Path) -> None:
    marks = tiny_config().punctuation_classes - 1
    given = [round(0.1 * mark, 1) for mark in range(1, marks + 1)]
    command = [*asked_of(tmp_path), "--constants", ",".join(map(str, given))]
    CliRunner().invoke(app, command, catch_exceptions=False)
    before, after = (load_network(tmp_path / name).punctuation.bias for name in ("before.pt", "after.pt"))
    np.testing.assert_allclose((after - before).detach().numpy(), [0.0, *given], atol=1e-6)


def test_constants_of_the_tags_are_added_to_theirs_and_to_no_other(tmp_path: Path) -> None:
    marks = tiny_config().punctuation_classes - 1
    command = [*asked_of(tmp_path), "--constants", ",".join("0" * marks)]
    CliRunner().invoke(app, [*command, "--reparandum", "1.0", "--interregnum", "-0.25"], catch_exceptions=False)
    before, after = (load_network(tmp_path / name) for name in ("before.pt", "after.pt"))
    moved = (after.disfluency.bias - before.disfluency.bias).detach().numpy()
    named = {tag.published: float(moved[tag]) for tag in Disfluency}
    assert named == pytest.approx({"O": 0.0, "B-RM": 1.0, "I-RM": 1.0, "B-IM": -0.25, "I-IM": -0.25}, abs=1e-6)
    assert torch.equal(before.punctuation.bias, after.punctuation.bias)


@pytest.mark.parametrize(("given", "why"), [("0.1", "marks, not 1"), ("a,b,c", "numbers between commas")])
def test_constants_that_are_none_are_refused(given: str, why: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [*asked_of(tmp_path), "--constants", given])
    assert result.exit_code == 2
    assert why in f"{result.output}{result.exception}"
