"""Whether a model is as often right as it says: lines over its log odds, and the error that is left.

A line a label (Platt scaling) makes of a model's own probabilities the share of words that are right. The expected
calibration error (Guo et al. 2017) is the distance between what is said and what is right, in bins of probability,
weighted by their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.decoding.labelling_runs import MARK_NUMBERS
from caesura.schemas.labels import Disfluency, Punctuation, kind_of
from caesura.schemas.model_manifest import OddsLine
from caesura.schemas.segments import Segment, SegmentWord

_BINS = 15
_DRAWS = 200
_STEPS, _SMALL, _FAR = 50, 1e-6, 30.0
_HELD_WORDS = 1.0
_HIGHEST, _LOWEST = 0.9975, 0.0025
"""Where the ends of published steps lie: 1.00 is all from 0.995 on."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Labels that were published, how probable each was said to be, and whether the text has the same."""

    names: tuple[str, ...]
    probabilities: NDArray[np.float64]
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, found: Iterable[tuple[str, float | None, bool]]) -> Answers:
        """Take those of which the probability is known."""
        known = [(name, said, right) for name, said, right in found if said is not None]
        names, said, right = zip(*known, strict=True) if known else ((), (), ())
        return cls(tuple(names), np.array(said, dtype=float), np.array(right, dtype=bool))

    def __add__(self, other: Answers) -> Answers:
        return Answers(
            self.names + other.names,
            np.concatenate((self.probabilities, other.probabilities)),
            np.concatenate((self.right, other.right)),
        )

    @property
    def error(self) -> float:
        """The expected calibration error."""
        return expected_error(self.probabilities, self.right)

    def lines(self) -> dict[str, OddsLine]:
        """Return the line of each label that would have made its probabilities right."""
        names = np.array(self.names)
        return {
            name: fit_line(self.probabilities[names == name], self.right[names == name])
            for name in sorted({*self.names})
        }


@dataclass(frozen=True, slots=True)
class TurnEnds:
    """How probable it was said to be at some points that the speaker has finished, and where it was so."""

    said: NDArray[np.float64]
    finished: NDArray[np.bool_]

    @property
    def error(self) -> float:
        """The expected calibration error."""
        return expected_error(self.said, self.finished)

    @property
    def error_of_chance(self) -> float:
        """The error that so many points show on average where every probability is right."""
        draws = np.random.default_rng(1).random((_DRAWS, len(self.said)))
        return float(np.mean([expected_error(self.said, drawn < self.said) for drawn in draws]))

    def precision_at(self, recall: float) -> float:
        """Return the precision of the highest threshold that finds this share of the ends."""
        found, called = self._counted()
        place = int(np.searchsorted(found, recall * self.finished.sum()))
        return float(found[place] / called[place])

    def recall_at(self, precision: float) -> float:
        """Return the largest share of the ends that a threshold of this precision finds; 0 where none has it."""
        found, called = self._counted()
        good = found[found >= precision * called]
        return float(good.max() / self.finished.sum()) if len(good) else 0.0

    def _counted(self) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """Return the ends found, and the points called ends, at each threshold, from the highest on."""
        order = np.argsort(-self.said, kind="stable")
        last_of_step = np.append(np.flatnonzero(np.diff(self.said[order])), len(order) - 1)
        return np.cumsum(self.finished[order])[last_of_step], last_of_step + 1


def expected_error(probabilities: NDArray[np.float64], right: NDArray[np.bool_], bins: int = _BINS) -> float:
    """Return the expected calibration error over bins of equal width; 0 of nothing."""
    if not len(probabilities):
        return 0.0
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    said = np.bincount(places, weights=probabilities, minlength=bins)
    true = np.bincount(places, weights=right, minlength=bins)
    return float(np.abs(said - true).sum() / len(probabilities))


def fit_line(probabilities: NDArray[np.float64], right: NDArray[np.bool_]) -> OddsLine:
    """Return slope and shift of the log odds of being right over those that were said: logistic regression, by Newton.

    The line is held to slope 1 and no shift as by one word, so that a rare label keeps what its model says.
    """
    inside = np.clip(probabilities, _LOWEST, _HIGHEST)
    rows = np.stack((np.log(inside / (1.0 - inside)), np.ones_like(inside)), axis=1)
    begun = np.array([1.0, 0.0])

    def loss(line: NDArray[np.float64]) -> float:
        odds = rows @ line
        return float((np.logaddexp(0.0, odds) - right * odds).sum() + _HELD_WORDS / 2 * ((line - begun) ** 2).sum())

    line = begun.copy()
    for _ in range(_STEPS):
        said = 1.0 / (1.0 + np.exp(-np.clip(rows @ line, -_FAR, _FAR)))
        slope = rows.T @ (said - right) + _HELD_WORDS * (line - begun)
        curve = (rows * (said * (1.0 - said))[:, None]).T @ rows + _HELD_WORDS * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while loss(line - step) > loss(line) and np.abs(step).max() > _SMALL:
            step /= 2  # a whole step may go beyond the least loss
        line = line - step
        if np.abs(step).max() <= _SMALL:
            break
    return round(float(line[0]), 3), round(float(line[1]), 3)


def marks_of(words: Sequence[SegmentWord], gold: Sequence[int]) -> Answers:
    """Return the marks of published words whose own mark is known. gold: ``Punctuation`` or UNKNOWN."""
    return Answers.of(
        (word.punctuation, word.punctuation_probability, MARK_NUMBERS[word.punctuation] == mark)
        for word, mark in zip(words, gold, strict=True)
        if mark != UNKNOWN
    )


def kinds_of(words: Sequence[SegmentWord], gold: Sequence[int]) -> Answers:
    """Return what the tags make of published words whose own tag is known. gold: ``Disfluency`` or UNKNOWN."""
    return Answers.of(
        (kind_of(word.disfluency) or "O", word.disfluency_probability, kind_of(word.disfluency) == Disfluency(tag).kind)
        for word, tag in zip(words, gold, strict=True)
        if tag != UNKNOWN
    )


def turn_ends_of(flushed: Iterable[tuple[Segment, int]]) -> TurnEnds:
    """Return what the last segments of flushed sessions say, beside the marks that the text has there."""
    known = [(last.turn_end, Punctuation(mark).ends_sentence) for last, mark in flushed if last.turn_end is not None]
    said, finished = zip(*known, strict=True)
    return TurnEnds(np.array(said, dtype=float), np.array(finished, dtype=bool))
