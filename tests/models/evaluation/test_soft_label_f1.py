"""Packed held-out text, scored offline."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from caesura.models.__main__ import app
from caesura.models.data.packing import PackedText, pack
from caesura.models.evaluation.soft_label_f1 import packed_scores
from caesura.models.networks.checkpoints import write_checkpoint
from caesura.models.networks.ct_transformer import CTTransformer
from tests.harness.models.networks import VOCABULARY, document, tiny_config, tokenizer

pytestmark = pytest.mark.torch


def packed() -> PackedText:
    made = document(40)
    made.casing = [2 if word == "cat" else 1 for word in made.words]
    return pack([made], tokenizer())


def test_labels_that_are_all_right_have_full_marks_and_a_wrong_one_costs_its_class_alone() -> None:
    text = packed()
    rows = np.concatenate(
        [np.eye(4)[text.punctuation], np.eye(5)[text.disfluency], np.eye(4)[text.casing]], axis=1
    ).astype(np.float16)
    assert set(dict(packed_scores(text, rows)).values()) == {100.0}
    wrong = int(np.flatnonzero(text.casing == 2)[0])
    rows[wrong, 9:] = np.eye(4)[1]
    told = dict(packed_scores(text, rows))
    assert told["capital first"] < 100.0
    assert told["marks"] == told["either"] == 100.0


def test_the_command_scores_every_packed_corpus_and_writes_the_figures(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    for name in ("one", "two"):
        packed().save(tmp_path / "held" / f"{name}.npz")
    pack([], tokenizer()).save(tmp_path / "held" / "silent.npz")  # of some corpora nothing is held out
    write_checkpoint(tmp_path / "network.pt", CTTransformer(tiny_config()), {})
    command = [
        "score-packed",
        "--vocabulary",
        str(tmp_path / "vocab.txt"),
        "--checkpoint",
        str(tmp_path / "network.pt"),
    ]
    out = tmp_path / "figures.json"
    done = CliRunner().invoke(app, [*command, "--data", str(tmp_path / "held"), "--json-file", str(out)])
    assert done.exit_code == 0, done.output
    figures = json.loads(out.read_text())
    assert set(figures) == {"one", "two"}
    assert "silent holds no words" in done.output
    assert "capitals" not in figures["one"]  # the network has no third head
    assert 0 <= figures["one"]["marks"] <= 100
