"""Misheard text: the same errors for every model, F1 beside them, and the command over made-up corpora."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.recogniser_errors import MisheardWords
from caesura.models.evaluation.misheard import MisheardFigure, misheard, misheard_table
from tests.harness.models.corpora import write_corpus
from tests.harness.places import SHIPPED

ALIKE = MisheardWords(["dog", "tick", "duck", "saw", "see", "bird", "part"])


def document(name: str) -> AlignedDocument:
    made = AlignedDocument("made up", name)
    for word in ["the", "dog", "saw", "the", "bird", "and", "the", "duck", "saw", "the", "dog"] * 20:
        made.add(word, 0, 0)
    return made


def test_errors_are_drawn_alike_each_time_and_more_of_them_at_a_higher_rate() -> None:
    documents = [document("one"), document("two")]
    assert [one.words for one in misheard(documents, ALIKE, 0.0)] == [one.words for one in documents]
    first, again = (misheard(documents, ALIKE, 0.2) for _ in range(2))
    assert [one.words for one in first] == [one.words for one in again]
    assert first[0].words != first[1].words  # a document's errors are its own
    few, many = (
        sum(one.words.count("duck") + one.words.count("dog") for one in misheard(documents, ALIKE, rate))
        for rate in (0.05, 0.5)
    )
    assert few > many  # they are taken for "tick"


def test_the_table_pairs_models_at_each_rate_and_adds_the_texts_up() -> None:
    def figure(text: str, model: str, hits: int) -> MisheardFigure:
        return MisheardFigure(text=text, rate=0.05, model=model, counts=np.array([[hits, 10, 10]] * 4))

    table = misheard_table([figure("a", "old", 5), figure("a", "new", 8), figure("b", "old", 5), figure("b", "new", 6)])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows[0] == ["text", "errors a hundred words", "old", "new", "new less old"]
    assert [row[:2] for row in rows[2:]] == [["a", "5"], ["b", "5"], ["all", "5"]]
    assert rows[-1][2] == "50.0 (50.0 to 50.0)"
    assert [cell.split()[0] for cell in rows[-1][2:]] == ["50.0", "70.0", "+20.0"]


def test_the_command_scores_a_folder_s_english_model_on_held_out_text(tmp_path: Path) -> None:
    said = "We looked at the numbers this morning, and I think they are fine. What do you think? Let me know tomorrow. "
    write_corpus(tmp_path, "crd3", {f"talk-{number}": said * 5 for number in range(120)})
    command = ["misheard", "--models", str(SHIPPED), "--corpora", str(tmp_path), "--corpus", "crd3"]
    ran = CliRunner().invoke(app, [*command, "--max-words", "400", "--rate", "0", "--rate", "0.6", "--threads", "1"])
    assert ran.exit_code == 0, ran.output
    rows = [line.split("|") for line in ran.output.splitlines() if line.startswith("| crd3")]
    assert [row[2].strip() for row in rows] == ["0", "60"]
    clean, heard = (float(row[3].split()[0]) for row in rows)
    assert clean > heard > 0
    refused = CliRunner().invoke(app, [*command, "--rate", "2"])
    assert refused.exit_code == 2
    assert "--rate" in refused.output


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_an_empty_text_is_no_error(rate: float) -> None:
    assert misheard([AlignedDocument("made up", "none")], ALIKE, rate)[0].words == []
