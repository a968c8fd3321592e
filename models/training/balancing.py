"""Marks brought into balance: a constant for each mark's score (``python -m caesura.models balance``).

A network that learnt from many kinds of text is too careful on each of them: where it doubts, no mark is the likeliest
label, so it finds fewer marks than there are and is right more often than it must be. F1 wants the two alike. The
constants are chosen on held-out text of all kinds and lie in the bias of the punctuation head, so they cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

ScoredMarks: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int8]]
"""A text's log probabilities (words, P), and its gold marks (words,)."""

_STEPS = np.arange(0, 11) / 10
_ROUNDS = 4


def balanced(texts: Mapping[str, ScoredMarks]) -> NDArray[np.float64]:
    """Return the constant of each mark, in tenths from 0 to 1, with the best mean F1; that of no mark is 0.

    One mark after the other, until none gains.
    """
    marks = next(iter(texts.values()))[0].shape[1]
    constants = np.zeros(marks)
    for _ in range(_ROUNDS):
        before = constants.copy()
        for mark in range(1, marks):
            constants = max(_with(constants, mark), key=lambda tried: mean_f1(texts, tried))
        if (constants == before).all():
            break
    return constants


def _with(constants: NDArray[np.float64], mark: int) -> Sequence[NDArray[np.float64]]:
    return [np.where(np.arange(len(constants)) == mark, step, constants) for step in _STEPS]


def mean_f1(texts: Mapping[str, ScoredMarks], constants: NDArray[np.float64]) -> float:
    """Return the mean over the texts of F1 of all marks together, in per cent."""
    return float(np.mean([_f1(said, gold, constants) for said, gold in texts.values()]))


def _f1(said: NDArray[np.float64], gold: NDArray[np.int8], constants: NDArray[np.float64]) -> float:
    marked = (said + constants).argmax(axis=1)
    right = int(((marked == gold) & (gold > 0)).sum())
    return 200 * right / max(1, int((marked > 0).sum() + (gold > 0).sum()))
