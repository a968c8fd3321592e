"""The commands that measure decoding, from made-up corpora and a tiny network to a page with their tables."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.networks.checkpoints import write_checkpoint
from tests.harness.models.corpora import write_archive, write_corpus
from tests.harness.models.networks import VOCABULARY, exported, tiny_config, tiny_network

pytestmark = pytest.mark.torch

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
    assert "Time to detection" in text
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
