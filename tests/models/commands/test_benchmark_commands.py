"""Benchmark variants: what a checkpoint has learnt from, who may export it, and its figures without an export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.packing import pack
from caesura.models.languages.english import ENGLISH
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.checkpoints import learnt_from, load_network, write_checkpoint
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.models.corpora import write_archive, write_corpus
from tests.harness.models.networks import VOCABULARY, document, exported, tiny_config, tiny_network, tokenizer

pytestmark = pytest.mark.torch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny network of the English shape's classes, a vocabulary, packed text and a benchmark."""
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    write_checkpoint(tmp_path / "tiny.pt", tiny_network(tiny_config()), {"corpora": ["changelog", "ted"]})
    for name in ("ami", "swda"):
        pack([document(60)], tokenizer()).save(tmp_path / "data" / f"{name}.npz")
    rows = "we\tO\nsaw\tO\nit\tPERIOD\nwhere\tO\nis\tO\nit\tQUESTION\n" * 20
    write_archive(tmp_path, "iwslt2011", {"test2011": rows, "test2011asr": rows, "dev2012": rows})
    return tmp_path


def run(folder: Path, *words: str) -> str:
    wide = {"COLUMNS": "400"}  # so that no message is broken into lines
    ran = CliRunner(env=wide).invoke(app, [*words, "--vocabulary", str(folder / "vocab.txt")])
    return f"{ran.exit_code}: {ran.output}{ran.exception or ''}"


def test_what_learnt_from_a_closed_corpus_is_not_exported_as_a_shipped_model(folder: Path) -> None:
    shipped = folder / "shipped"
    asked = ["--checkpoint", str(folder / "tiny.pt"), "--version", "1", "--corpora", str(folder)]
    refused = run(folder, "export", *asked, "--shipped", str(shipped))
    assert "learnt from ted, which no shipped model may" in refused
    assert not shipped.exists()


def test_a_small_model_is_exported_beside_the_language_s_own_and_is_not_active(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LANGUAGES, "en", replace(ENGLISH, parity_corpora=("changelog",)))
    said = "We saw it. Where is it? It was there, and we saw it again. " * 40
    write_corpus(folder, "changelog", {f"talk {number}": said for number in range(60)})
    write_checkpoint(folder / "small.pt", tiny_network(tiny_config()), {"corpora": ["changelog"]})
    exported(tiny_network(), folder / "shipped" / "en", int8=True)
    asked = ["--checkpoint", str(folder / "small.pt"), "--version", "2", "--corpora", str(folder), "--small"]
    done = run(folder, "export", *asked, "--shipped", str(folder / "shipped"), "--fp32", str(folder / "fp32"))
    assert done.startswith("0: "), done
    models = {one.folder.name: one.manifest for one in read_models_folder(folder / "shipped")}
    shape = tiny_config()
    assert models["en-small"].id == f"en-ct-{len(shape.look_ahead)}x{shape.width}"
    assert {name: manifest.active for name, manifest in models.items()} == {"en": True, "en-small": False}


def test_a_checkpoint_tells_what_it_and_its_start_learnt_from(folder: Path) -> None:
    sizes = ["--max-words", "300", "--max-pieces", "600", "--threads", "1"]
    places = ["--data", str(folder / "data"), "--corpus", "ami", "--corpus", "swda"]
    trained = run(folder, "train", "--network", "word-cnn", *places, *sizes, "--checkpoint", str(folder / "one.pt"))
    assert trained.startswith("0: "), trained
    assert learnt_from(folder / "one.pt") == ("ami", "swda")
    again = ["--start", str(folder / "one.pt"), "--checkpoint", str(folder / "two.pt")]
    run(folder, "train", "--network", "word-cnn", *places[:4], *sizes, *again)
    assert learnt_from(folder / "two.pt") == ("ami", "swda")


def test_what_is_not_there_is_named_and_refused(folder: Path) -> None:
    gone = str(folder / "gone.pt")
    places = ["--data", str(folder / "data"), "--corpus", "ami", "--corpus", "ted", "--corpus", "rev16"]
    for asked in (["train"], ["label", "--teacher", str(folder / "tiny.pt"), "--taught", str(folder)]):
        assert "has no packed text of ted, rev16: prepare packs it" in run(folder, *asked, *places)
    for command, option in (("train", "--start"), ("label", "--teacher"), ("evaluate", "--checkpoint")):
        refused = run(folder, command, option, gone)
        assert refused.startswith("2: "), refused
        assert f"Invalid value for '{option}'" in refused
        assert f"'{gone}' does not exist" in refused


def test_a_checkpoint_without_its_pieces_is_refused(folder: Path) -> None:
    (folder / "vocab.txt").unlink()
    for command in ("evaluate", "false-stops"):
        refused = run(folder, command, "--checkpoint", str(folder / "tiny.pt"), "--corpora", str(folder))
        assert refused.startswith("2: "), refused
        assert "Invalid value for '--vocabulary'" in refused
        assert f"'{folder / 'vocab.txt'}' does not exist" in refused


def test_a_checkpoint_is_scored_on_the_texts_asked_for(folder: Path) -> None:
    asked = ["evaluate", "--checkpoint", str(folder / "tiny.pt"), "--corpora", str(folder), "--threads", "1"]
    scored = run(folder, *asked, "--text", "REF")
    rows = [line.split("|")[1:4] for line in scored.splitlines() if line.startswith("| REF")]
    assert [row[1].strip() for row in rows].count("streaming") == 4
    assert "ASR" not in scored
    assert "REF, offline: comma" in scored, "what a log shows of each text once it is scored"
    assert "there is no text 'REFF'; there are REF, ASR" in run(folder, *asked, "--text", "REFF")


def test_what_sight_is_worth_is_scored_alone_and_at_least_one_way_is_asked_for(folder: Path) -> None:
    asked = ["evaluate", "--checkpoint", str(folder / "tiny.pt"), "--corpora", str(folder), "--threads", "1"]
    asked += ["--text", "REF", "--no-streaming", "--no-offline"]
    scored = run(folder, *asked, "--ahead", "0", "--ahead", "9")
    rows = [line.split("|")[2].strip() for line in scored.splitlines() if line.startswith("| REF")]
    assert rows == ["0 ahead"] * 4 + ["9 ahead"] * 4
    assert "give --ahead" in run(folder, *asked)


def test_labels_for_unseeing_steps_want_such_steps_and_labels(folder: Path) -> None:
    for asked in (["--taught", str(folder)], ["--unseeing", "0.5"]):
        assert "give both" in run(folder, "train", "--taught-unseeing", *asked)


def test_a_model_folder_becomes_a_checkpoint_that_tells_what_it_learnt_from(folder: Path) -> None:
    exported(tiny_network(), folder / "shipped" / "en", int8=True)
    asked = ["restore", "--models", str(folder / "shipped"), "--checkpoint", str(folder / "back.pt")]
    restored = CliRunner().invoke(app, asked)
    assert restored.output.startswith("tiny@1 -> "), restored.output
    assert learnt_from(folder / "back.pt") == ("made up",)
    again = CliRunner().invoke(app, asked)
    assert "is there already" in str(again.exception)
    before, back = tiny_network(), load_network(folder / "back.pt")
    step = max(float(weights.abs().max()) for weights in before.state_dict().values()) / 63
    for name, weights in before.state_dict().items():
        assert torch.allclose(back.state_dict()[name], weights, atol=1.01 * step), name
