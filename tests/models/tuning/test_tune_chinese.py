"""A tiny Chinese model tuned on made-up text: cut by the worker's dictionary, four marks, scored by character."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.export.folder import ModelCard, export
from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.pieces import LEADING, UNKNOWN_PIECE
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.models.own_texts import write_files

pytestmark = pytest.mark.torch

CHARACTERS = "我们你他今天明去来北京上海看见喜欢猫狗鸟好吗和吃饭了"
VOCABULARY = ["[PAD]", UNKNOWN_PIECE, LEADING, *dict.fromkeys(CHARACTERS)]


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
        punctuation_classes=5,
    )
    card = ModelCard(
        id="tiny-zh", version="1", language="zh", licence="CC0-1.0", trained_on=("made up",), dictionary=True
    )
    export(CTTransformer(shape), VOCABULARY, folder / "zh", card, int8=True)
    return folder


def sentence(rng: random.Random) -> str:
    who, what = rng.choice(("我们", "你们", "他")), rng.choice(("猫", "狗", "鸟"))
    return rng.choice(
        (
            f"今天{who}去北京、上海，看见{what}了。",
            f"明天{who}来吗？",
            f"{who}喜欢{what}，{what}来吃饭了。",
        )
    )


def test_a_chinese_tune_learns_four_marks_and_keeps_the_dictionary(tmp_path: Path) -> None:
    rng = random.Random(1)
    texts = {
        f"{number}.txt": "\n".join("".join(sentence(rng) for _ in range(5)) for _ in range(6)) for number in range(14)
    }
    done = CliRunner().invoke(
        app,
        [
            *("tune", str(write_files(tmp_path / "text", texts)), "--language", "zh", "--threads", "1"),
            *("--models", str(write_model(tmp_path / "start")), "--out", str(tmp_path / "out")),
            *("--learning-rate", "0.003", "--epochs", "12"),
        ],
    )
    assert done.exit_code == 0, done.output
    rows = [line.split("|") for line in done.output.splitlines() if "| streaming |" in line]
    after = {row[3].strip(): float(row[6]) for row in rows if row[1].strip() == "after"}
    assert set(after) == {"comma", "period", "question", "enumeration comma", "overall"}
    assert after["overall"] > 75
    tuned = next(one for one in read_models_folder(tmp_path / "out" / "models") if one.manifest.active)
    assert tuned.manifest.name == "tiny-zh-own@1"
    assert tuned.manifest.dictionary_sha256 is not None
