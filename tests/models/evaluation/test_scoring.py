""""""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.commands.decoding_figures import put
from caesura.models.data.packing import PackedText, pack
from caesura.models.evaluation.scoring import Difference, count_blocks, difference, score, scored
from caesura.models.evaluation.soft_label_f1 import packed_scores
from caesura.models.networks.checkpoints import write_checkpoint
from caesura.models.networks.ct_transformer import CTTransformer
from tests.harness.models.networks import VOCABULARY, document, tiny_config, tokenizer

CLASSES = {"comma": frozenset((1,)), "period": frozenset((2,))}


def test_precision_recall_and_f1_are_counted_by_token() -> None:
    scores = score([0, 1, 1, 2, 0, 2], [1, 1, 0, 2, 0, 1], CLASSES)
    assert scores["comma"].precision == pytest.approx(100 / 3)
    assert scores["comma"].recall == pytest.approx(50)
    assert scores["period"].f1 == pytest.approx(200 / 3)
    assert scores["overall"].precision == pytest.approx(50)
    assert scores["overall"].gold == 4


def test_a_token_without_a_known_label_is_not_scored() -> None:
    assert score([-1, 1], [1, 1], CLASSES)["comma"].precision == 100


def test_the_interval_holds_the_figure_and_shrinks_with_more_text() -> None:
    gold = [0, 1, 0, 2, 0, 0, 1, 2, 0, 0] * 40
    guess = [0, 1, 1, 2, 0, 0, 0, 2, 0, 2] * 39 + [0] * 10
    few, many = score(gold, guess, CLASSES)["overall"], score(gold * 20, guess * 20, CLASSES)["overall"]
    assert few.low <= few.f1 <= few.high
    assert many.high - many.low < few.high - few.low


def test_no_predictions_score_zero() -> None:
    assert score([1, 2], [0, 0], CLASSES)["overall"].f1 == 0


def test_a_labelling_paired_with_itself_differs_by_nothing() -> None:
    counts = count_blocks([0, 1, 0, 2] * 100, [0, 1, 1, 2] * 100, CLASSES)["overall"]
    assert difference(counts, counts) == Difference(delta=0, low=0, high=0)
    assert difference(counts, counts).holds_zero


def test_a_small_loss_in_every_block_is_found() -> None:
    gold = ([1, 0, 0, 2, 0] * 10 + [0, 0, 0, 0, 1] * 10) * 20
    better = ([1, 0, 0, 2, 0] * 10 + [0, 0, 0, 1, 0] * 10) * 20
    worse = [0 if place % 25 == 0 else label for place, label in enumerate(better)]
    first, second = (count_blocks(gold, guess, CLASSES)["overall"] for guess in (better, worse))
    assert scored(first).low < scored(second).high
    one = difference(first, second)
    assert one.low <= one.delta <= one.high
    assert one.low > 0
    assert not one.holds_zero
    assert difference(second, first).delta == pytest.approx(-one.delta)


def test_labellings_of_two_texts_cannot_be_paired() -> None:
    first = count_blocks([1] * 60, [1] * 60, CLASSES)["overall"]
    for other in ([1] * 40, [1] * 59 + [0]):
        with pytest.raises(ValueError, match="one text"):
            difference(first, count_blocks(other, other, CLASSES)["overall"])


PAGE = "# Figures\n\n<!-- sweep -->\nold\n<!-- end of sweep -->\n\nProse.\n<!-- chunks -->\n<!-- end of chunks -->\n"


def page(folder: Path) -> Path:
    path = folder / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_a_table_replaces_what_stood_in_its_place_and_nothing_else(tmp_path: Path) -> None:
    path = page(tmp_path)
    put(path, "sweep", "a table", max_words=9)
    put(path, "sweep", "a newer table", max_words=9)
    text = path.read_text(encoding="utf-8")
    assert "with `--max-words 9`: a newer table" in text
    assert "old" not in text
    assert "a table" not in text
    assert text.startswith("# Figures\n")
    assert text.endswith("\nProse.\n<!-- chunks -->\n<!-- end of chunks -->\n")


def test_a_page_without_a_place_is_an_error_and_stays(tmp_path: Path) -> None:
    path = page(tmp_path)
    with pytest.raises(ValueError, match="no place for stability"):
        put(path, "stability", "a table", max_words=9)
    assert path.read_text(encoding="utf-8") == PAGE


def test_without_a_page_a_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    put(None, "sweep", "a table", max_words=9)
    assert capsys.readouterr().out == "a table\n"


def packed() -> PackedText:
    made = document(40)
    made.casing = [2 if word == "cat" else 1 for word in made.words]
    return pack([made], tokenizer())


def test_right_labels_have_full_marks_and_a_wrong_one_costs_its_class() -> None:
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
