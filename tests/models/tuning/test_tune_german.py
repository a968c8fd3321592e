"""A tiny model of German and Spanish: it labels both, and tuned on German text it stays what labels Spanish."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.decoding.labelling_runs import published_segments
from caesura.models.export.folder import ModelCard, export
from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.pieces import LEADING, UNKNOWN_PIECE
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.inference.model.wordpiece import ACCENTED
from tests.harness.models.own_texts import write_files

pytestmark = pytest.mark.torch

TEXT = "wir gehen heute nach köln und dann heim wo bist du jetzt sie fährt morgen zurück"
VOCABULARY = ["[PAD]", UNKNOWN_PIECE, LEADING, ACCENTED, *TEXT.split()]


def write_model(folder: Path) -> Path:
    torch.manual_seed(1)
    shape = CTConfig(
        vocabulary_size=len(VOCABULARY),
        width=32,
        heads=4,
        inner_width=64,
        look_ahead=(1, 2),
        positions="learned",
        max_positions=64,
    )
    card = ModelCard(id="tiny-eu", version="1", language="de", also=("es",), licence="CC0-1.0", trained_on=("made up",))
    export(CTTransformer(shape), VOCABULARY, folder / "eu", card, int8=True)
    return folder


def sentence(rng: random.Random) -> str:
    return rng.choice(
        ("Wir gehen heute nach Köln, und dann heim.", "Wo bist du jetzt?", "Sie fährt morgen heim, und dann zurück.")
    )


def test_a_model_labels_sessions_of_each_of_its_languages(tmp_path: Path) -> None:
    engine = OnnxEngine(write_model(tmp_path), threads=1)
    texts = [["wir", "gehen"], ["si", "no"], ["oui"]]
    published = published_segments(engine, texts, language=["de-AT", "es", "fr"])
    labelled = [{segment.model.version for segment in segments if segment.model} for segments in published]
    assert labelled == [{"1"}, {"1"}, set()]
    assert [(model.name, model.language) for model in engine.models] == [("tiny-eu@1", "de"), ("tiny-eu@1", "es")]
    (stored,) = read_models_folder(tmp_path)
    assert stored.manifest.manifest == "4.0"


def test_a_tune_on_german_leaves_spanish_to_the_model_that_it_began_at(tmp_path: Path) -> None:
    rng = random.Random(1)
    texts = {
        f"{number}.txt": "\n".join(" ".join(sentence(rng) for _ in range(5)) for _ in range(6)) for number in range(14)
    }
    done = CliRunner().invoke(
        app,
        [
            *("tune", str(write_files(tmp_path / "text", texts)), "--language", "de", "--threads", "1"),
            *("--models", str(write_model(tmp_path / "start")), "--out", str(tmp_path / "out")),
            *("--learning-rate", "0.003", "--epochs", "12"),
        ],
    )
    assert done.exit_code == 0, done.output
    rows = [line.split("|") for line in done.output.splitlines() if "| streaming |" in line]
    after = {row[3].strip(): float(row[6]) for row in rows if row[1].strip() == "after"}
    assert after["overall"] > 60
    stored = [one.manifest for one in read_models_folder(tmp_path / "out" / "models")]
    active = {manifest.name: manifest.languages for manifest in stored if manifest.active}
    assert active == {"tiny-eu@1": ("es",), "tiny-eu-own@1": ("de",)}
    assert (tmp_path / "out" / "models" / "tiny-eu-own-1" / "vocabulary.txt").read_text().splitlines() == VOCABULARY
