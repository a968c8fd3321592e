"""Attention of many sessions' rows, each to its own session's keys: the one place where rows meet.

A row comes out the same to the last bit whoever shares the batch, and however many rows are asked for beside it, so
that a word that is computed again (after an eviction, in another worker) says what it said before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from worker.adapters.onnx.kept_rows import KeptRows, Rows

__all__ = ["RowAttention"]


class RowAttention(ABC):
    """Attends for one network, and keeps what it sees."""

    @abstractmethod
    def keep(self, k: int, seen: Rows, sessions: Sequence[tuple[KeptRows, tuple[int, int]]]) -> None:
        """Keep keys and values (M, 2 D) of what layer k takes in; what is not final is written over by a later step.

        sessions: whose they are, one after another, and the first of their places and the one behind the last.
        """

    @abstractmethod
    def mix(self, k: int, asking: Rows, sessions: Sequence[tuple[KeptRows, Sequence[int]]]) -> Rows:
        """Return what layer k's attention mixes (M, D) for inputs and queries (M, 2 D), session after session.

        sessions: the rows kept of each, and how many of its keys each of its queries sees, ascending.
        """
