"""How sure a model is: its scores as log odds of what was chosen, and these as probabilities that hold on text.

Calibrated log odds are a line over the model's own, a line a label (Platt scaling; ``models calibrate`` fits
them). Guo et al. 2017 scale all of a model's scores by one temperature; a line of slope 1/T and no shift is the same.
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

_LEAST = 1e-12
_PERCENT = np.float32(100)


def log_odds(scores: NDArray[np.float32], counted: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return ln(p / (1 - p)) of some classes together. scores: (W, C). counted: which classes, (W, C) or (C,)."""
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    of_counted = np.where(counted, shares, np.float32(0))
    inside = of_counted.sum(axis=-1)
    outside = (shares - of_counted).sum(axis=-1)
    odds: NDArray[np.float32] = np.log(np.maximum(inside, _LEAST) / np.maximum(outside, _LEAST))
    return odds


def probability_numbers(
    odds: NDArray[np.float32], slope: NDArray[np.float32] | float, shift: NDArray[np.float32] | float
) -> NDArray[np.uint8]:
    """Return the calibrated probabilities as they stand in a column of labels."""
    calibrated = 1.0 / (1.0 + np.exp(-(odds * slope + shift)))
    numbers: NDArray[np.uint8] = (np.rint(calibrated * _PERCENT) + probability_number(0)).astype(np.uint8)
    return numbers


class HeadProbabilities:
    """How probable the labels of one head are."""

    def __init__(self, groups: Sequence[str], lines: dict[str, OddsLine]) -> None:
        """Take what each class stands for, those of one name together; lines: by that name."""
        self._together = np.array([[one == other for other in groups] for one in groups])
        self._lines = np.array([lines.get(name, (1.0, 0.0)) for name in groups], dtype=np.float32)

    def numbers(self, scores: NDArray[np.float32], chosen: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Return how probable the chosen classes (W,) are by the scores (W, C), before any offset was added."""
        slope, shift = self._lines[chosen].T
        return probability_numbers(log_odds(scores, self._together[chosen]), slope, shift)


class ModelProbabilities:
    """The columns of probabilities of one model."""

    def __init__(self, calibration: Calibration, marks: Sequence[Punctuation], tags: Sequence[Disfluency]) -> None:
        """Take what the classes of the two heads stand for."""
        names = [mark.published for mark in marks]
        self._marks = HeadProbabilities(names, calibration.punctuation)
        self._last_marks = HeadProbabilities(names, calibration.closing)
        self._tags = HeadProbabilities([tag.kind or tag.published for tag in tags], calibration.disfluency)
        self._ends = np.array([mark.ends_sentence for mark in marks])
        self._turn_end = calibration.turn_end

    def columns(
        self, scores: OfHeads[np.float32], chosen: OfHeads[np.intp], last: Sequence[int], level: Probabilities
    ) -> dict[str, bytes]:
        """Return the columns that a level has.

        scores: (W, C) of each head, no offset added. chosen: (W,), the classes. last: the rows of buffers' last words.
        """
        columns: dict[str, NDArray[np.uint8]] = {}
        marks = scores["punctuation"]
        if level is not Probabilities.OFF and last:
            columns["turn_end"] = turn_end = np.zeros(len(marks), dtype=np.uint8)
            turn_end[last] = probability_numbers(log_odds(marks[last], self._ends), *self._turn_end)
        if level is Probabilities.WORDS:
            of_marks = self._marks.numbers(marks, chosen["punctuation"])
            of_marks[last] = self._last_marks.numbers(marks[last], chosen["punctuation"][last])
            of_tags = self._tags.numbers(scores["disfluency"], chosen["disfluency"])
            columns |= {"punctuation_probability": of_marks, "disfluency_probability": of_tags}
        return {name: column.tobytes() for name, column in columns.items()}
