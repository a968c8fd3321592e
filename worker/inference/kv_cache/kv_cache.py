"""What the streaming engine keeps of a session between two steps, and how much of it stays in memory.

Rules:

1. What is kept belongs to words, not to a place in a stream: it is used for a buffer that begins with exactly those
   words, and for no other. So nothing has to be told of a cut, a roll-back, a hand-over or a session that begins anew
   under the name of another: their words differ, or the rows are right.
2. It is memory of the process, never state. Least recently used rows go first where there are more bytes than allowed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit

Rows = NDArray[np.float32]


class KeyValueMemory(ABC):
    """Where one session's keys and values lie; how, knows the attention that made it."""

    __slots__ = ()

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Return the bytes that it takes."""

    @abstractmethod
    def grow(self, rows: int) -> None:
        """Have room for so many rows of each layer; those that are there stay."""

    @abstractmethod
    def clear(self) -> None:
        """Hold no rows; the memory stays."""

    @abstractmethod
    def let_go(self, row: int) -> None:
        """Take note that of the rows before this one only the leading piece's is looked at any more."""


class KVCache:
    """One buffer's rows.

    words: what the rows belong to. ends, word_of: rows by word and words by row, see ``row_schedule.plan``. done_words:
    how many words were in at the last step; None where nothing is computed yet. room: where each layer's keys and
    values are. waiting: of each layer the inputs and queries of the rows that are final before it and not behind it, as
    bytes. waiting_rows: how many these are, over all layers.
    """

    __slots__ = ("_nothing", "_row_bytes", "done_words", "ends", "room", "waiting", "waiting_rows", "word_of", "words")

    def __init__(self, layers: int, width: int, room: KeyValueMemory) -> None:
        self.words: tuple[str, ...] = ()
        self.ends: list[int] = [1]
        self.word_of: list[int] = [0]
        self.done_words: int | None = None
        self.room = room
        self._row_bytes = 2 * width * np.dtype(np.float32).itemsize
        self._nothing = [b""] * layers
        self.waiting: list[bytes] = []
        self.waiting_rows = 0

    @property
    def nbytes(self) -> int:
        """Return the bytes of all rows."""
        return self.room.nbytes + self.waiting_rows * self._row_bytes

    def begin(self) -> None:
        """Forget what is computed; the memory stays."""
        self.room.clear()
        self.waiting = self._nothing.copy()
        self.waiting_rows = 0
        self.words = ()
        self.ends = [1]
        self.word_of = [0]
        self.done_words = None

    def is_of(self, words: Sequence[str]) -> bool:
        """Tell whether a buffer of these words begins with the words that the rows belong to."""
        return self.done_words is not None and words[: len(self.words)] == self.words

    def read(self, words: tuple[str, ...], pieces_of: Callable[[str], Sequence[int]]) -> list[int]:
        """Take a buffer that begins with the words that are in; return the pieces of the others.

        The leading piece, which every buffer begins with, is not among them.
        """
        of_each = list(map(pieces_of, words[len(self.words) :]))
        pieces = list(chain.from_iterable(of_each))
        for number, numbers in enumerate(of_each, start=len(self.words) + 1):
            self.word_of += [number] * len(numbers)
            self.ends.append(len(self.word_of))
        self.words = words
        self.room.grow(len(self.word_of))
        return pieces


class SessionCache:
    """The kept rows of sessions, at most ``max_bytes`` of them.

    nbytes: of what is kept and of what is held, that is taken out for a pass and not put back yet. A pass evicts others
    before it grows beyond the bound; only what is held may itself be more. slabs: the same bound for the memory that
    rows lie in, where it outlives them.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.slabs = MemoryLimit(max_bytes)
        self.nbytes = 0
        self.evicted = 0
        self._kept: dict[str, tuple[str, KVCache, int]] = {}
        self._held: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, session: str, model: str) -> KVCache | None:
        """Take a session's rows out, for ``hold``; None where there are none of this model."""
        found = self._kept.pop(session, None)
        if found is None:
            return None
        self.nbytes -= found[2]
        return found[1] if found[0] == model else None

    def hold(self, session: str, kept: KVCache) -> None:
        """Count what a pass computes with until it is put back; others go where it is too much together."""
        self._let_go(session)
        size = self._held[session] = kept.nbytes
        self.nbytes += size
        if size <= self.max_bytes:
            self._evict()

    def put(self, session: str, model: str, kept: KVCache) -> None:
        """Put a session's rows in, as the last to go; what is too much goes, and first what alone is too much."""
        self.forget(session)
        size = kept.nbytes
        if size > self.max_bytes:
            self.evicted += 1
            return
        self._kept[session] = (model, kept, size)
        self.nbytes += size
        self._evict()

    def forget(self, session: str) -> None:
        """Drop a session's rows."""
        self._let_go(session)
        found = self._kept.pop(session, None)
        if found is not None:
            self.nbytes -= found[2]

    def release(self) -> None:
        """Drop all that is held: its pass failed."""
        for session in list(self._held):
            self._let_go(session)

    def _let_go(self, session: str) -> None:
        self.nbytes -= self._held.pop(session, 0)

    def _evict(self) -> None:
        while self._kept and self.nbytes > self.max_bytes:
            self.forget(next(iter(self._kept)))
            self.evicted += 1
