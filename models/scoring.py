"""Precision, recall and F1 by token, with bootstrap intervals over blocks of consecutive tokens.

Tokens of one sentence are not independent, so blocks of ``BLOCK_TOKENS`` are drawn instead of tokens. Figures are in
per cent. ``overall`` is the micro-average over the classes, as the punctuation literature reports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK_TOKENS", "Score", "score"]

BLOCK_TOKENS = 50
_DRAWS = 1000
_LEVEL = (2.5, 97.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One class's figures; low and high bound F1's 95 % interval; gold counts the class's tokens."""

    precision: float
    recall: float
    f1: float
    low: float
    high: float
    gold: int


def score(
    gold: Sequence[int], predicted: Sequence[int], classes: Mapping[str, frozenset[int]], *, seed: int = 1
) -> dict[str, Score]:
    """Score each class (a set of labels counted as one), and ``overall`` over all of them.

    A token whose gold label is negative is not scored.
    """
    blocks = -(-len(gold) // BLOCK_TOKENS)
    counts = {name: np.zeros((blocks, 3), dtype=np.int64) for name in classes}  # hits, predicted, gold
    for place, (wanted, got) in enumerate(zip(gold, predicted, strict=True)):
        if wanted < 0:
            continue
        for name, labels in classes.items():
            counts[name][place // BLOCK_TOKENS] += (wanted in labels and got in labels, got in labels, wanted in labels)
    counts["overall"] = np.sum([counts[name] for name in classes], axis=0)
    draws = np.random.default_rng(seed).integers(0, blocks, size=(_DRAWS, blocks))
    return {name: _score(table, draws) for name, table in counts.items()}


def _score(table: NDArray[np.int64], draws: NDArray[np.int64]) -> Score:
    precision, recall, f1 = _figures(table.sum(axis=0))
    drawn = [_figures(table[blocks].sum(axis=0))[2] for blocks in draws]
    low, high = np.percentile(drawn, _LEVEL)
    return Score(
        precision=precision, recall=recall, f1=f1, low=float(low), high=float(high), gold=int(table[:, 2].sum())
    )


def _figures(totals: NDArray[np.int64]) -> tuple[float, float, float]:
    hits, predicted, gold = (int(total) for total in totals)
    precision = 100 * hits / predicted if predicted else 0.0
    recall = 100 * hits / gold if gold else 0.0
    f1 = 200 * hits / (predicted + gold) if predicted + gold else 0.0
    return precision, recall, f1
