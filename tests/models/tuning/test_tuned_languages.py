"""A tiny Chinese model tuned on made-up text: cut by the worker's dictionary, four marks, scored by character."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

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

CHARACTERS = "我们你他今天明去来北京上海看见喜欢猫狗鸟好吗和吃饭了"
VOCABULARY = ["[PAD]", UNKNOWN_PIECE, LEADING, *dict.fromkeys(CHARACTERS)]


def write_model(folder: Path, card: ModelCard, vocabulary: list[str], *, punctuation_classes: int = 4) -> Path:
    torch.manual_seed(1)
    shape = CTConfig(
        vocabulary_size=len(vocabulary),
        width=32,
        heads=4,
        inner_width=64,
        look_ahead=(1, 2),
        positions="learned",
        max_positions=64,
        punctuation_classes=punctuation_classes,
    )
    export(CTTransformer(shape), vocabulary, folder / card.language, card, int8=True)
    return folder


def write_chinese_model(folder: Path) -> Path:
    card = ModelCard(
        id="tiny-zh", version="1", language="zh", licence="CC0-1.0", trained_on=("made up",), dictionary=True
    )
    return write_model(folder, card, VOCABULARY, punctuation_classes=5)


def tuned_after(
    folder: Path, language: str, start: Path, sentence: Callable[[random.Random], str], between: str
) -> dict[str, float]:
    """Tune a model on sentences of its language; return its F1 afterwards by mark."""
    rng = random.Random(1)
    texts = {f"{n}.txt": "\n".join(between.join(sentence(rng) for _ in range(5)) for _ in range(6)) for n in range(14)}
    done = CliRunner().invoke(
        app,
        [
            *("tune", str(write_files(folder / "text", texts)), "--language", language, "--threads", "1"),
            *("--models", str(start), "--out", str(folder / "out")),
            *("--learning-rate", "0.006", "--epochs", "6"),
        ],
    )
    assert done.exit_code == 0, done.output
    rows = [line.split("|") for line in done.output.splitlines() if "| streaming |" in line]
    return {row[3].strip(): float(row[6]) for row in rows if row[1].strip() == "after"}


def chinese_sentence(rng: random.Random) -> str:
    who, what = rng.choice(("我们", "你们", "他")), rng.choice(("猫", "狗", "鸟"))
    return rng.choice(
        (f"今天{who}去北京、上海，看见{what}了。", f"明天{who}来吗？", f"{who}喜欢{what}，{what}来吃饭了。")
    )


def test_a_chinese_tune_learns_four_marks_and_keeps_the_dictionary(tmp_path: Path) -> None:
    after = tuned_after(tmp_path, "zh", write_chinese_model(tmp_path / "start"), chinese_sentence, "")
    assert set(after) == {"comma", "period", "question", "enumeration comma", "overall"}
    assert after["overall"] > 75
    tuned = next(one for one in read_models_folder(tmp_path / "out" / "models") if one.manifest.active)
    assert tuned.manifest.name == "tiny-zh-own@1"
    assert tuned.manifest.dictionary_sha256 is not None


TEXT = "wir gehen heute nach köln und dann heim wo bist du jetzt sie fährt morgen zurück"
GERMAN_VOCABULARY = ["[PAD]", UNKNOWN_PIECE, LEADING, ACCENTED, *TEXT.split()]


def write_german_model(folder: Path) -> Path:
    card = ModelCard(id="tiny-eu", version="1", language="de", also=("es",), licence="CC0-1.0", trained_on=("made up",))
    return write_model(folder, card, GERMAN_VOCABULARY)


def german_sentence(rng: random.Random) -> str:
    return rng.choice(
        ("Wir gehen heute nach Köln, und dann heim.", "Wo bist du jetzt?", "Sie fährt morgen heim, und dann zurück.")
    )


def test_a_model_labels_sessions_of_each_of_its_languages(tmp_path: Path) -> None:
    engine = OnnxEngine(write_german_model(tmp_path), threads=1)
    texts = [["wir", "gehen"], ["si", "no"], ["oui"]]
    published = published_segments(engine, texts, language=["de-AT", "es", "fr"])
    labelled = [{segment.model.version for segment in segments if segment.model} for segments in published]
    assert labelled == [{"1"}, {"1"}, set()]
    assert [(model.name, model.language) for model in engine.models] == [("tiny-eu@1", "de"), ("tiny-eu@1", "es")]
    (stored,) = read_models_folder(tmp_path)
    assert stored.manifest.manifest == "4.0"


def test_a_tune_on_german_leaves_spanish_to_the_model_that_it_began_at(tmp_path: Path) -> None:
    after = tuned_after(tmp_path, "de", write_german_model(tmp_path / "start"), german_sentence, " ")
    assert after["overall"] > 60
    stored = [one.manifest for one in read_models_folder(tmp_path / "out" / "models")]
    active = {manifest.name: manifest.languages for manifest in stored if manifest.active}
    assert active == {"tiny-eu@1": ("es",), "tiny-eu-own@1": ("de",)}
    assert (
        tmp_path / "out" / "models" / "tiny-eu-own-1" / "vocabulary.txt"
    ).read_text().splitlines() == GERMAN_VOCABULARY
