"""Precision, recall and F1 by token, with bootstrap intervals over blocks of consecutive tokens.

Tokens of one sentence are not independent, so blocks of ``BLOCK_TOKENS`` are drawn instead of tokens. Figures are in
per cent. ``overall`` is the micro-average over the classes, as the punctuation literature reports it. Two labellings of
one text are compared on the same draws (paired bootstrap), so what is hard in a block is hard for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK_TOKENS = 50
_DRAWS = 1000
_LEVEL = (2.5, 97.5)

Counts = NDArray[np.int64]
"""One class's hits, predicted and gold tokens of each block of a text: (blocks, 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One class's figures; low and high bound F1's 95 % interval; gold counts the class's tokens."""

    precision: float
    recall: float
    f1: float
    low: float
    high: float
    gold: int

    def __str__(self) -> str:
        """Return F1 with its interval."""
        return f"{self.f1:.1f} ({self.low:.1f} to {self.high:.1f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """F1 of one labelling less that of another of the same text; low and high bound its 95 % interval."""

    delta: float
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """Tell whether the interval holds 0: the two may be as good as one another."""
        return self.low <= 0 <= self.high

    def __str__(self) -> str:
        """Return the difference with its interval, signed."""
        return f"{self.delta:+.1f} ({self.low:+.1f} to {self.high:+.1f})"


def score(
    gold: Sequence[int], predicted: Sequence[int], classes: Mapping[str, frozenset[int]], *, seed: int = 1
) -> dict[str, Score]:
    """Score each class (a set of labels counted as one), and ``overall`` over all of them.

    A token whose gold label is negative is not scored.
    """
    return {name: scored(counts, seed=seed) for name, counts in count_blocks(gold, predicted, classes).items()}


def count_blocks(
    gold: Sequence[int], predicted: Sequence[int], classes: Mapping[str, frozenset[int]]
) -> dict[str, Counts]:
    """Count each class, and ``overall`` over all of them, block by block; a negative gold label is not counted."""
    blocks = -(-len(gold) // BLOCK_TOKENS)
    counts = {name: np.zeros((blocks, 3), dtype=np.int64) for name in classes}
    for place, (wanted, got) in enumerate(zip(gold, predicted, strict=True)):
        if wanted < 0:
            continue
        for name, labels in classes.items():
            counts[name][place // BLOCK_TOKENS] += (wanted in labels and got in labels, got in labels, wanted in labels)
    counts["overall"] = np.sum([counts[name] for name in classes], axis=0)
    return counts


def scored(counts: Counts, *, seed: int = 1) -> Score:
    """Return the figures of one class, its interval drawn over the blocks."""
    precision, recall, f1 = _figures(counts.sum(axis=0))
    low, high = np.percentile([_figures(counts[blocks].sum(axis=0))[2] for blocks in _draws(counts, seed)], _LEVEL)
    return Score(
        precision=precision, recall=recall, f1=f1, low=float(low), high=float(high), gold=int(counts[:, 2].sum())
    )


def difference(first: Counts, second: Counts, *, seed: int = 1) -> Difference:
    """Return F1 of the first labelling less F1 of the second, both of the same text: one draw of blocks serves both."""
    if first.shape != second.shape or (first[:, 2] != second[:, 2]).any():
        raise ValueError("only two labellings of one text can be paired")

    def delta(blocks: NDArray[np.int64] | slice) -> float:
        return _figures(first[blocks].sum(axis=0))[2] - _figures(second[blocks].sum(axis=0))[2]

    low, high = np.percentile([delta(blocks) for blocks in _draws(first, seed)], _LEVEL)
    return Difference(delta=delta(slice(None)), low=float(low), high=float(high))


def _draws(counts: Counts, seed: int) -> NDArray[np.int64]:
    blocks = len(counts)
    return np.random.default_rng(seed).integers(0, blocks, size=(_DRAWS, blocks))


def _figures(totals: NDArray[np.int64]) -> tuple[float, float, float]:
    hits, predicted, gold = (int(total) for total in totals)
    precision = 100 * hits / predicted if predicted else 0.0
    recall = 100 * hits / gold if gold else 0.0
    f1 = 200 * hits / (predicted + gold) if predicted + gold else 0.0
    return precision, recall, f1
