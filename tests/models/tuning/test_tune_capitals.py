"""A model with the third head tuned on one's own text: it learns how that text writes words, and keeps the head."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.labelling_runs import published_words
from caesura.models.export.stored_network import read_network
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.schemas.labels import Casing
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.models.networks import VOCABULARY, exported, tiny_config
from tests.harness.models.own_texts import write_folder

pytestmark = pytest.mark.torch


def test_a_tune_keeps_the_third_head_and_learns_how_the_text_writes_words(tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = CTTransformer(replace(tiny_config(), casing_classes=len(Casing)))
    exported(network, tmp_path / "start" / "en", int8=True)
    text = write_folder(tmp_path / "text")
    for file in text.glob("*.txt"):
        file.write_text(file.read_text().replace("bird", "Bird").replace(" dog", " DOG"))
    options = ["--language", "en", "--models", str(tmp_path / "start"), "--out", str(tmp_path / "out")]
    options += ["--threads", "1", "--learning-rate", "0.005", "--epochs", "14", "--id", "mine", "--version", "2"]
    done = CliRunner().invoke(app, ["tune", str(text), *options])
    assert done.exit_code == 0, done.output

    (tuned,) = (one for one in read_models_folder(tmp_path / "out" / "models") if one.manifest.id == "mine")
    assert tuned.manifest.casing == tuple(casing.published for casing in Casing)
    said = ["the", "bird", "saw", "a", "dog", "and", "the", "cat", "saw", "a", "bird"]
    (words,) = published_words(CheckpointEngine(read_network(tuned), VOCABULARY), [said], language="en")
    wanted = {"bird": "capital_first", "dog": "all_capitals"}
    assert [word.casing for word in words] == [wanted.get(word, "small") for word in said]
