"""The commands that measure decoding, from made-up corpora and a tiny network to a page with their tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.commands.label_figures import names_of, scored_models
from caesura.models.data.packing import pack
from caesura.models.languages.english import ENGLISH
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.checkpoints import learnt_from, load_network, write_checkpoint
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.ports.engine import EngineModel
from tests.harness.models.corpora import write_archive, write_corpus
from tests.harness.models.networks import VOCABULARY, document, exported, tiny_config, tiny_network, tokenizer

PLACES = ("position-change", "stability", "revisions", "sweep", "look-ahead", "spread", "chunks")
SENTENCE = "Well, the dog saw a bird, and then we left today. Where is it? "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decoding")
    for name in ("bitcointranscripts", "crd3", "changelog"):
        write_corpus(folder, name, {f"talk-{number}": SENTENCE * 10 for number in range(120)})
    write_corpus(folder, "rev16_verbatim", {"v/17.nlp": "So, um, the dog the dog left. " * 20})
    write_corpus(folder, "rev16_clean", {"c/17.nlp": "So the dog left. " * 20})
    rows = "".join(f"{word.strip('.,?').lower()}\t{_mark(word)}\n" for word in (SENTENCE * 10).split())
    write_archive(folder, "iwslt2011", {"test2011": rows, "test2011asr": rows, "dev2012": rows})
    exported(tiny_network(tiny_config(look_ahead=(1, 2, 2))), folder / "models" / "en", int8=True)
    return folder


def _mark(word: str) -> str:
    return {",": "COMMA", ".": "PERIOD", "?": "QUESTION"}.get(word[-1], "O")


def measured(folder: Path, command: str, *options: str, models: bool = True) -> str:
    """Run a command on at most 60 words a corpus, and return its part of the page."""
    page = folder / f"{command}.md"
    page.write_text("".join(f"<!-- {name} -->\n<!-- end of {name} -->\n" for name in PLACES), encoding="utf-8")
    places = ["--corpora", str(folder), "--page", str(page), "--max-words", "60"]
    of_models = ["--models", str(folder / "models")] if models else []
    ran = CliRunner().invoke(app, [command, *places, *of_models, *options], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return (
        page.read_text(encoding="utf-8").partition(f"<!-- {command} -->")[2].partition(f"<!-- end of {command} -->")[0]
    )


def test_position_change_counts_and_draws_the_network_with_and_without_its_mask(folder: Path) -> None:
    plot = folder / "plot.svg"
    text = measured(folder, "position-change", "--unmasked", "--plot", str(plot))
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| CT-Transformer")]
    assert [int(row[5]) <= 5 for row in rows] == [True, True]
    assert "no mask" in plot.read_text(encoding="utf-8")


def test_stability_tells_of_marks_and_of_the_tags_that_have_gold_ones(folder: Path) -> None:
    text = measured(folder, "stability")
    assert "| published, sentence, marks | 0.000 | 0.0 % |" in text
    assert "| screen, tags |" in text
    page = (folder / "stability.md").read_text(encoding="utf-8")
    revised = page.partition("<!-- revisions -->")[2].partition("<!-- end of revisions -->")[0]
    assert "| words after it | marks that froze otherwise |" in revised
    assert "\n| 0 | " in revised


def test_the_sweep_has_a_row_a_setting(folder: Path) -> None:
    text = measured(folder, "sweep")
    assert text.count("\n| held-out |") == 21
    for setting in ("settled, F=1", "sentence, context=0", "sentence, most=96"):
        assert f"| {setting} |" in text


def test_shorter_masks_are_tried_on_the_weights_that_are_there(folder: Path) -> None:
    text = measured(folder, "look-ahead")
    assert "tiny@1" in text
    assert "settled, L = 4 (1,2,1)" in text
    assert "settled, L = 0 (0,0,0)" in text


def test_networks_trained_for_their_own_look_ahead_are_compared_by_it(folder: Path) -> None:
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    asked = ["--vocabulary", str(folder / "vocab.txt")]
    for look_ahead in ((0, 0, 3), (0, 1, 0)):
        file = folder / f"{sum(look_ahead)}.pt"
        write_checkpoint(file, tiny_network(tiny_config(look_ahead=look_ahead)), {})
        asked += ["--checkpoint", str(file)]
    rows = [line.split("|") for line in measured(folder, "spread", *asked, models=False).splitlines() if "L = " in line]
    assert [row[2].strip() for row in rows] == ["settled, L = 1 (0,1,0)", "settled, L = 3 (0,0,3)"]
    delays = [float(row[6].split("/")[0]) for row in rows]
    assert delays[0] < delays[1]


def test_chunks_stand_beside_the_stream_on_every_text(folder: Path) -> None:
    text = measured(folder, "chunks")
    assert [text.count(f"| {name} | overlapped chunks") for name in ("held-out", "REF", "ASR")] == [1, 1, 1]


@pytest.fixture
def bench_folder(tmp_path: Path) -> Path:
    """A tiny network of the English shape's classes, a vocabulary, packed text and a benchmark."""
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    write_checkpoint(tmp_path / "tiny.pt", tiny_network(tiny_config()), {"corpora": ["changelog", "ted"]})
    for name in ("ami", "swda"):
        pack([document(60)], tokenizer()).save(tmp_path / "data" / f"{name}.npz")
    rows = "we\tO\nsaw\tO\nit\tPERIOD\nwhere\tO\nis\tO\nit\tQUESTION\n" * 20
    write_archive(tmp_path, "iwslt2011", {"test2011": rows, "test2011asr": rows, "dev2012": rows})
    return tmp_path


def run(bench_folder: Path, *words: str) -> str:
    wide = {"COLUMNS": "400"}  # so that no message is broken into lines
    ran = CliRunner(env=wide).invoke(app, [*words, "--vocabulary", str(bench_folder / "vocab.txt")])
    return f"{ran.exit_code}: {ran.output}{ran.exception or ''}"


def test_models_of_closed_corpora_are_not_exported_as_shipped(bench_folder: Path) -> None:
    shipped = bench_folder / "shipped"
    asked = ["--checkpoint", str(bench_folder / "tiny.pt"), "--version", "1", "--corpora", str(bench_folder)]
    refused = run(bench_folder, "export", *asked, "--shipped", str(shipped))
    assert "learnt from ted, which no shipped model may" in refused
    assert not shipped.exists()


def test_a_small_model_is_exported_beside_the_language_s_own_and_is_not_active(
    bench_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LANGUAGES, "en", replace(ENGLISH, parity_corpora=("changelog",)))
    said = "We saw it. Where is it? It was there, and we saw it again. " * 40
    write_corpus(bench_folder, "changelog", {f"talk {number}": said for number in range(60)})
    write_checkpoint(bench_folder / "small.pt", tiny_network(tiny_config()), {"corpora": ["changelog"]})
    exported(tiny_network(), bench_folder / "shipped" / "en", int8=True)
    asked = [
        "--checkpoint",
        str(bench_folder / "small.pt"),
        "--version",
        "2",
        "--corpora",
        str(bench_folder),
        "--small",
    ]
    done = run(
        bench_folder, "export", *asked, "--shipped", str(bench_folder / "shipped"), "--fp32", str(bench_folder / "fp32")
    )
    assert done.startswith("0: "), done
    models = {one.folder.name: one.manifest for one in read_models_folder(bench_folder / "shipped")}
    shape = tiny_config()
    assert models["en-small"].id == f"en-ct-{len(shape.look_ahead)}x{shape.width}"
    assert {name: manifest.active for name, manifest in models.items()} == {"en": True, "en-small": False}


def test_a_checkpoint_tells_what_it_and_its_start_learnt_from(bench_folder: Path) -> None:
    sizes = ["--max-words", "300", "--max-pieces", "600", "--threads", "1"]
    places = ["--data", str(bench_folder / "data"), "--corpus", "ami", "--corpus", "swda"]
    trained = run(
        bench_folder, "train", "--network", "word-cnn", *places, *sizes, "--checkpoint", str(bench_folder / "one.pt")
    )
    assert trained.startswith("0: "), trained
    assert learnt_from(bench_folder / "one.pt") == ("ami", "swda")
    again = ["--start", str(bench_folder / "one.pt"), "--checkpoint", str(bench_folder / "two.pt")]
    run(bench_folder, "train", "--network", "word-cnn", *places[:4], *sizes, *again)
    assert learnt_from(bench_folder / "two.pt") == ("ami", "swda")


def test_a_missing_file_is_named_and_refused(bench_folder: Path) -> None:
    gone = str(bench_folder / "gone.pt")
    places = ["--data", str(bench_folder / "data"), "--corpus", "ami", "--corpus", "ted", "--corpus", "rev16"]
    for asked in (["train"], ["label", "--teacher", str(bench_folder / "tiny.pt"), "--taught", str(bench_folder)]):
        assert "has no packed text of ted, rev16: prepare packs it" in run(bench_folder, *asked, *places)
    for command, option in (("train", "--start"), ("label", "--teacher"), ("evaluate", "--checkpoint")):
        refused = run(bench_folder, command, option, gone)
        assert refused.startswith("2: "), refused
        assert f"Invalid value for '{option}'" in refused
        assert f"'{gone}' does not exist" in refused


def test_a_checkpoint_without_its_pieces_is_refused(bench_folder: Path) -> None:
    (bench_folder / "vocab.txt").unlink()
    for command in ("evaluate", "false-stops"):
        refused = run(
            bench_folder, command, "--checkpoint", str(bench_folder / "tiny.pt"), "--corpora", str(bench_folder)
        )
        assert refused.startswith("2: "), refused
        assert "Invalid value for '--vocabulary'" in refused
        assert f"'{bench_folder / 'vocab.txt'}' does not exist" in refused


def _evaluating(folder: Path) -> list[str]:
    return ["evaluate", "--checkpoint", str(folder / "tiny.pt"), "--corpora", str(folder), "--threads", "1"]


def test_a_checkpoint_is_scored_on_the_texts_asked_for(bench_folder: Path) -> None:
    asked = _evaluating(bench_folder)
    scored = run(bench_folder, *asked, "--text", "REF")
    rows = [line.split("|")[1:4] for line in scored.splitlines() if line.startswith("| REF")]
    assert [row[1].strip() for row in rows].count("streaming") == 4
    assert "ASR" not in scored
    assert "REF, offline: comma" in scored, "what a log shows of each text once it is scored"
    assert "there is no text 'REFF'; there are REF, ASR" in run(bench_folder, *asked, "--text", "REFF")


def test_ahead_is_scored_alone_and_one_scoring_is_required(bench_folder: Path) -> None:
    asked = [*_evaluating(bench_folder), "--text", "REF", "--no-streaming", "--no-offline"]
    scored = run(bench_folder, *asked, "--ahead", "0", "--ahead", "9")
    rows = [line.split("|")[2].strip() for line in scored.splitlines() if line.startswith("| REF")]
    assert rows == ["0 ahead"] * 4 + ["9 ahead"] * 4
    assert "give --ahead" in run(bench_folder, *asked)


def test_taught_unseeing_requires_labels_and_unseeing_steps(bench_folder: Path) -> None:
    for asked in (["--taught", str(bench_folder)], ["--unseeing", "0.5"]):
        assert "give both" in run(bench_folder, "train", "--taught-unseeing", *asked)


def test_a_model_folder_becomes_a_checkpoint_that_tells_what_it_learnt_from(bench_folder: Path) -> None:
    exported(tiny_network(), bench_folder / "shipped" / "en", int8=True)
    asked = ["restore", "--models", str(bench_folder / "shipped"), "--checkpoint", str(bench_folder / "back.pt")]
    restored = CliRunner().invoke(app, asked)
    assert restored.output.startswith("tiny@1 -> "), restored.output
    assert learnt_from(bench_folder / "back.pt") == ("made up",)
    again = CliRunner().invoke(app, asked)
    assert "is there already" in str(again.exception)
    before, back = tiny_network(), load_network(bench_folder / "back.pt")
    step = max(float(weights.abs().max()) for weights in before.state_dict().values()) / 63
    for name, weights in before.state_dict().items():
        assert torch.allclose(back.state_dict()[name], weights, atol=1.01 * step), name


SERVED = [
    EngineModel(name="zh-large@1", language="zh", active=True, look_ahead_words=9),
    EngineModel(name="zh-small@1", language="zh", active=False, look_ahead_words=9),
    EngineModel(name="en@2", language="en", active=True, look_ahead_words=9),
]


@pytest.mark.parametrize(
    ("language", "heading"), [(None, "en@2, zh-large@1"), ("zh", "zh-large@1"), ("en", "en@2"), ("de", "")]
)
def test_a_table_is_headed_by_the_active_models_alone(language: str | None, heading: str) -> None:
    assert names_of(scored_models(SERVED, language)) == heading


def test_an_error_of_ours_is_one_line_that_names_the_command(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    asked = ["--models", str(missing), "--language", "en", "--checkpoint", str(tmp_path / "start.pt")]
    done = CliRunner().invoke(app, ["restore", *asked])
    assert done.exit_code == 1
    assert done.output == f"restore: models folder {missing} is not a folder\n"
