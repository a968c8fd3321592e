"""A model's scores as probabilities: calibrated lines, what is counted together, and who gets which column."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from caesura.schemas.labels import probability_number
from caesura.schemas.model_manifest import Calibration, ModelManifest
from caesura.worker.core.language.labelling import LabelRequest, Probabilities, ScoreOffsets
from caesura.worker.inference.model.heads import Heads, Scores
from tests.unit.inference.model_files import model

_TWO_WORDS = LabelRequest(session="s", model_id="en@1", buffer_start=0, words=("a", "b"))


def _heads(folder: Path, calibration: Calibration | None, *, closing: bool = False) -> Heads:
    path = model(folder, manifest="3.0", closing=closing) / "manifest.json"
    manifest = msgspec.json.decode(path.read_bytes(), type=ModelManifest)
    return Heads(replace(manifest, calibration=calibration))


def _scores(marks: list[list[float]], tags: list[list[float]], *others: list[list[float]]) -> Scores:
    return [np.log(np.array(rows, dtype=np.float32)) for rows in (marks, tags, *others)]


_MARKS = [[0.9, 0.05, 0.03, 0.02], [0.3, 0.1, 0.5, 0.1]]
_TAGS = [[0.4, 0.5, 0.1, 0.0, 0.0], [0.9, 0.05, 0.05, 0.0, 0.0]]
_TINY = 1e-9


def _two(marks: list[list[float]] = _MARKS) -> Scores:
    return _scores(marks, [[max(share, _TINY) for share in row] for row in _TAGS])


def _said(column: bytes) -> list[int]:
    return [number - probability_number(0) for number in column]


def test_a_probability_is_that_of_the_chosen_label(tmp_path: Path) -> None:
    (labels,) = _heads(tmp_path, Calibration()).labels(
        [_two()], [replace(_TWO_WORDS, probabilities=Probabilities.WORDS)]
    )
    assert _said(labels.punctuation_probability) == [90, 50]
    assert _said(labels.disfluency_probability) == [60, 90], "both tags of words taken back count"
    assert labels.turn_end[0] == 0, "only of a buffer's last word"
    assert _said(labels.turn_end[1:]) == [60], "period and question mark together"


def test_lines_move_the_log_odds_of_their_own_label(tmp_path: Path) -> None:
    calibration = Calibration(
        punctuation={"none": (0.5, 0.0)}, closing={"period": (1.0, 1.0)}, disfluency={"RM": (1.0, -2.0)},
        turn_end=(2.0, 0.0),
    )  # fmt: skip
    (labels,) = _heads(tmp_path, calibration).labels([_two()], [replace(_TWO_WORDS, probabilities=Probabilities.WORDS)])
    half = 1 / (1 + math.exp(-0.5 * math.log(9)))
    shifted = 1 / (1 + math.exp(-1.0))
    back = 1 / (1 + math.exp(2.0 - math.log(1.5)))
    twice = 1 / (1 + math.exp(-2 * math.log(1.5)))
    assert _said(labels.punctuation_probability) == [round(100 * half), round(100 * shifted)]
    assert _said(labels.disfluency_probability) == [round(100 * back), 90]
    assert _said(labels.turn_end[1:]) == [round(100 * twice)]


def test_each_request_of_a_batch_gets_the_columns_that_it_asks_for(tmp_path: Path) -> None:
    heads = _heads(tmp_path, Calibration())
    asked = [replace(_TWO_WORDS, probabilities=one) for one in Probabilities]
    off, turns, words = heads.labels([_two() for _ in asked], asked)
    assert (off.turn_end, off.punctuation_probability, off.disfluency_probability) == (b"", b"", b"")
    assert (turns.punctuation_probability, turns.disfluency_probability) == (b"", b"")
    assert turns.turn_end == words.turn_end
    assert len({one.punctuation for one in (off, turns, words)}) == 1


def test_a_model_that_is_not_calibrated_says_nothing(tmp_path: Path) -> None:
    (labels,) = _heads(tmp_path, None).labels([_two()], [replace(_TWO_WORDS, probabilities=Probabilities.WORDS)])
    assert (labels.turn_end, labels.punctuation_probability, labels.disfluency_probability) == (b"", b"", b"")


def test_an_offset_chooses_another_label_and_leaves_how_probable_it_is(tmp_path: Path) -> None:
    asked = replace(
        _TWO_WORDS,
        probabilities=Probabilities.WORDS,
        offsets=ScoreOffsets(reparandum=-9.0, sentence_end=-9.0),
    )
    (labels,) = _heads(tmp_path, Calibration()).labels([_two()], [asked])
    assert (labels.disfluency, labels.punctuation) == (b"\0\0", b"\0\0")
    assert _said(labels.disfluency_probability) == [40, 90]
    assert _said(labels.punctuation_probability) == [90, 30]


@pytest.mark.parametrize(("first", "end", "known"), [(0, 2, True), (0, 1, False)])
def test_the_last_word_of_a_buffer_alone_is_judged_by_the_head_for_it(
    tmp_path: Path, first: int, end: int, known: bool
) -> None:
    closing = [[0.25, 0.25, 0.25, 0.25], [0.1, 0.1, 0.7, 0.1]]
    scores = [rows[first:end] for rows in (*_two(), np.log(np.array(closing, dtype=np.float32)))]
    asked = replace(_TWO_WORDS, first=first, end=end, probabilities=Probabilities.TURNS)
    (labels,) = _heads(tmp_path, Calibration(), closing=True).labels([scores], [asked])
    assert _said(labels.turn_end[-1:]) == ([80] if known else [])
