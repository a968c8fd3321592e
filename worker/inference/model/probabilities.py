"""Turns a model's scores into calibrated probabilities, by log odds of the chosen label.

Calibrated log odds are a line over the model's own, one line a label (Platt scaling; ``models calibrate`` fits them).
Guo et al. 2017 scale all scores by one temperature; that is a line of slope 1/T without a shift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from caesura.schemas.labels import Disfluency, Punctuation, probability_number
from caesura.schemas.model_manifest import Calibration, OddsLine
from caesura.worker.core.language.labelling import Probabilities

_Number = TypeVar("_Number", bound=np.generic)
OfHeads = Mapping[str, NDArray[_Number]]
"""An array a head, by its name."""

_LEAST = np.float32(1e-12)
_PERCENT = np.float32(100)


class ModelProbabilities:
    """The columns of probabilities of one model.

    Both heads' scores are rows of one array. Each row has a *question*: which of its classes count together, and the
    line of their log odds. The questions, in order: a mark's, a last word's mark's, a tag's, and the end of a turn.
    """

    def __init__(self, calibration: Calibration, marks: Sequence[Punctuation], tags: Sequence[Disfluency]) -> None:
        """Take what the classes of the two heads stand for."""
        names = [mark.published for mark in marks]
        kinds = [tag.kind or tag.published for tag in tags]
        self._width = max(len(marks), len(tags))
        self._last, self._tag = len(marks), 2 * len(marks)
        self._turn = self._tag + len(tags)
        together = [[one == other for other in group] for group in (names, names, kinds) for one in group]
        counted = [*together, [mark.ends_sentence for mark in marks]]
        self._counted = np.array([row + [False] * (self._width - len(row)) for row in counted])
        lines: list[OddsLine] = []
        for found, group in (
            (calibration.punctuation, names),
            (calibration.closing, names),
            (calibration.disfluency, kinds),
        ):
            lines += [found.get(name, (1.0, 0.0)) for name in group]
        self._slope, self._shift = np.array([*lines, calibration.turn_end], dtype=np.float32).T

    def columns(
        self, scores: OfHeads[np.float32], chosen: OfHeads[np.intp], last: Sequence[int], level: Probabilities
    ) -> dict[str, bytes]:
        """Return the columns that a level has.

        scores: (W, C) of each head, no offset added. chosen: (W,), the classes. last: the rows of buffers' last words.
        """
        if level is Probabilities.OFF:
            return {}
        marks, tags = scores["punctuation"], scores["disfluency"]
        words = len(marks) if level is Probabilities.WORDS else 0
        rows = np.full((2 * words + len(last), self._width), -np.inf, dtype=np.float32)
        rows[2 * words :, : marks.shape[1]] = marks[last]
        asked = np.full(len(rows), self._turn)
        if words:
            rows[:words, : marks.shape[1]] = marks
            rows[words : 2 * words, : tags.shape[1]] = tags
            asked[:words] = chosen["punctuation"]
            asked[last] += self._last
            asked[words : 2 * words] = chosen["disfluency"] + self._tag
        numbers = self._numbers(rows, asked)
        columns = {}
        if last:
            turn_end = np.zeros(len(marks), dtype=np.uint8)
            turn_end[last] = numbers[2 * words :]
            columns["turn_end"] = turn_end.tobytes()
        if words:
            columns["punctuation_probability"] = numbers[:words].tobytes()
            columns["disfluency_probability"] = numbers[words : 2 * words].tobytes()
        return columns

    def _numbers(self, rows: NDArray[np.float32], asked: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Return calibrated probabilities as they stand in a column. rows: (N, C) scores. asked: (N,) questions."""
        shares = np.exp(rows - rows.max(axis=-1, keepdims=True))
        inside = shares * self._counted[asked]
        outside = (shares - inside).sum(axis=-1)
        odds = np.log(np.maximum(inside.sum(axis=-1), _LEAST) / np.maximum(outside, _LEAST))
        calibrated = np.float32(1) / (np.exp(-(odds * self._slope[asked] + self._shift[asked])) + np.float32(1))
        numbers: NDArray[np.uint8] = (np.rint(calibrated * _PERCENT) + probability_number(0)).astype(np.uint8)
        return numbers
