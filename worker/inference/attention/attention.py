"""Attention of many sessions' rows, each to its own session's keys: the one place where rows meet.

A row comes out the same to the last bit, whatever else is in the batch. So a word that is computed again (after an
eviction, in another worker) gets the same labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from caesura.worker.inference.kv_cache.kv_cache import KeyValueMemory, KVCache, Rows


class VisibleRange:
    """What the queries of a layer see, those of each session one after another.

    queries (S,): of each session, how many. ends (M,): up to which of its session's keys each query sees, ascending in
    a session. begins (M,): from which one on, at least 1 and ascending; the first key of all, the leading piece's,
    every query sees.
    """

    __slots__ = ("begins", "ends", "queries")

    def __init__(self, queries: NDArray[np.int32], begins: NDArray[np.int32], ends: NDArray[np.int32]) -> None:
        self.queries, self.begins, self.ends = queries, begins, ends

    @classmethod
    def of(cls, visible: Sequence[Sequence[int]], since: Sequence[Sequence[int]]) -> VisibleRange:
        """Return the sight of queries that see up to ``visible`` and from ``since`` on, a sequence a session."""
        queries = np.array([len(own) for own in visible], dtype=np.int32)
        begins = np.fromiter(chain.from_iterable(since), np.int32, int(queries.sum()))
        return cls(queries, begins, np.fromiter(chain.from_iterable(visible), np.int32, len(begins)))


class RowAttention(ABC):
    """Attends for one network, and keeps what it sees. A pass ``begin``s, then keeps and mixes layer by layer."""

    @abstractmethod
    def room(self) -> KeyValueMemory:
        """Return a place for the keys and values of a session."""

    @abstractmethod
    def begin(self, sessions: Sequence[KVCache]) -> None:
        """Take note of whose rows follow, one after another, in every layer of the pass; their rooms are made here."""

    @abstractmethod
    def keep(self, k: int, key_value: Rows, places: NDArray[np.int32]) -> None:
        """Keep keys and values (M, 2 D) of what layer k takes in; what is not final is written over by a later step.

        ArithmeticError where one is not finite in half precision: a score of minus infinity would hide its key.
        places: of each session's the first and the one behind the last (S, 2).
        """

    @abstractmethod
    def attend(self, k: int, query: Rows, visible_range: VisibleRange) -> Rows:
        """Return what layer k's attention mixes (M, D) for inputs and queries (M, 2 D), session after session."""
