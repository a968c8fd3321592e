"""Attention by NumPy's products, where ``attention_kernels`` was not compiled or does not know the heads' width.

Rules:

1. Every session's product is taken by itself, straight from its kept keys and values: nothing is copied together, and
   nothing depends on who shares the batch. Only the softmax runs over all of them at once.
2. A row comes out the same to the last bit however many rows are asked for beside it, so that a word that is computed
   again (after an eviction, in another worker) says what it said before. A product's kernel is chosen by its shape, and
   adds up in an order of its own. So every product here has ``_BLOCK`` rows, those of a session filled up with its last
   one; keys and values are taken in whole vectors of 16, and a softmax is summed over a multiple of ``_PADDED_TO``
   shares: what is beyond a row's sight adds zeros. No product has more than ``_AT_ONCE`` keys: what is longer is halved
   by the library, wherever its half then lies, and the second half is computed by another kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from caesura.worker.inference.attention.attention import RowAttention, VisibleRange
from caesura.worker.inference.kv_cache.kv_cache import KeyValueMemory, KVCache, Rows

_PADDED_TO = 64
_VECTOR = 16
_BLOCK = 8
_AT_ONCE = 192
"""OpenBLAS takes 240 to 768 rows without halving them, by processor, and more numbers to add up."""


class _Arrays(KeyValueMemory):
    """Keys (layers, H, D / H, capacity) and values (layers, H, capacity, D / H), zero where nothing was kept yet."""

    __slots__ = ("keys", "values")

    def __init__(self, layers: int, heads: int, per_head: int) -> None:
        self.keys: Rows = np.zeros((layers, heads, per_head, 0), dtype=np.float32)
        self.values: Rows = np.zeros((layers, heads, 0, per_head), dtype=np.float32)

    @property
    @override
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    @override
    def grow(self, rows: int) -> None:
        layers, heads, per_head, held = self.keys.shape
        if rows <= held:
            return
        capacity = _whole(rows, _VECTOR)
        keys = np.empty((layers, heads, per_head, capacity), dtype=np.float32)
        values = np.empty((layers, heads, capacity, per_head), dtype=np.float32)
        keys[..., :held], keys[..., held:] = self.keys, 0.0
        values[:, :, :held], values[:, :, held:] = self.values, 0.0
        self.keys, self.values = keys, values

    @override
    def clear(self) -> None:
        """Nothing to do: rows that are kept anew are written over."""

    @override
    def let_go(self, row: int) -> None:
        """Keep all rows: they lie in one array."""


class NumpyAttention(RowAttention):
    """Attends for one network. weighing: the session of ``row_graphs``'s graph of that name."""

    def __init__(self, weighing: Any, layers: int, heads: int, width: int) -> None:  # noqa: ANN401 - onnxruntime ships without types
        self._weighing = weighing
        self._layers, self._heads, self._width = layers, heads, width
        self._rooms: list[_Arrays] = []
        self._scratch: Rows = np.empty(0, dtype=np.float32)
        self._columns = np.arange(_PADDED_TO, dtype=np.int32)[None]

    @override
    def room(self) -> _Arrays:
        return _Arrays(self._layers, self._heads, self._width // self._heads)

    @override
    def begin(self, sessions: Sequence[KVCache]) -> None:
        self._rooms = [cast("_Arrays", kept.room) for kept in sessions]

    @override
    def keep(self, k: int, key_value: Rows, places: NDArray[np.int32]) -> None:
        width, place = self._width, 0
        by_head = (self._heads, width // self._heads)
        with np.errstate(over="ignore"):
            halves = key_value.astype(np.float16).astype(np.float32)  # as they are kept where attention is compiled
        if not np.isfinite(halves).all():
            raise ArithmeticError("a number to keep is not finite in half precision")
        for kept, (first, stop) in zip(self._rooms, places, strict=True):
            own = halves[place : place + stop - first]
            place += stop - first
            kept.keys[k, :, :, first:stop] = own[:, :width].T.reshape(*by_head, len(own))
            kept.values[k, :, first:stop] = own[:, width:].reshape(len(own), *by_head).transpose(1, 0, 2)

    @override
    def attend(self, k: int, query: Rows, visible_range: VisibleRange) -> Rows:
        queries = query[:, query.shape[1] // 2 :]
        context = np.empty(queries.shape, dtype=np.float32)
        sight_of = np.stack((visible_range.begins, visible_range.ends), axis=1)
        by_length: dict[int, list[tuple[int, _Arrays, Sequence[int]]]] = {}
        place = 0
        ends = np.split(visible_range.ends, np.cumsum(visible_range.queries)[:-1])
        for kept, sees in zip(self._rooms, [own.tolist() for own in ends], strict=True):
            if sees:
                by_length.setdefault(_whole(sees[-1], _PADDED_TO), []).append((place, kept, sees))
                place += len(sees)
        for padded, alike in by_length.items():
            self._mix_alike(k, queries, sight_of, context, padded, alike)
        return context

    def _mix_alike(
        self,
        k: int,
        queries: Rows,
        sight_of: NDArray[np.int32],
        context: Rows,
        padded: int,
        alike: Sequence[tuple[int, _Arrays, Sequence[int]]],
    ) -> None:
        heads = self._heads
        asked_rows: list[int] = []
        for place, _, visible in alike:
            missing = -len(visible) % _BLOCK
            asked_rows += [*range(place, place + len(visible)), *[place + len(visible) - 1] * missing]
        rows = np.array(asked_rows)
        blocks = len(rows) // _BLOCK
        # By block, head, row of the block: what one product reads and writes lies together.
        asked = queries[rows].reshape(blocks, _BLOCK, heads, -1).transpose(0, 2, 1, 3)
        visible_range = sight_of[rows].reshape(blocks, 1, _BLOCK, 2).repeat(heads, axis=1).reshape(-1, 2)
        scores = self._room(len(visible_range) * padded).reshape(blocks, heads, _BLOCK, padded)
        for own, kept, keys in _of_session(alike):
            for some in _pieces(keys):
                np.matmul(asked[own], kept.keys[k, :, :, some], out=scores[own, :, :, some])
        (weighed,) = self._weighing.run(
            None,
            {
                "scores": scores.reshape(-1, padded),
                "since": visible_range[:, :1],
                "visible": visible_range[:, 1:],
                "columns": self._up_to(padded),
            },
        )
        shares = weighed.reshape(scores.shape)
        out = np.empty((blocks, _BLOCK, heads, asked.shape[-1]), dtype=np.float32)
        by_head = out.transpose(0, 2, 1, 3)
        for own, kept, keys in _of_session(alike):
            first, *others = _pieces(keys)
            np.matmul(shares[own, :, :, first], kept.values[k, :, first], out=by_head[own])
            for some in others:
                by_head[own] += shares[own, :, :, some] @ kept.values[k, :, some]
        context[rows] = out.reshape(len(rows), -1)

    def _room(self, size: int) -> Rows:
        if len(self._scratch) < size:
            self._scratch = np.empty(size, dtype=np.float32)
        return self._scratch[:size]

    def _up_to(self, padded: int) -> NDArray[np.int32]:
        if self._columns.shape[1] < padded:
            self._columns = np.arange(padded, dtype=np.int32)[None]
        return self._columns[:, :padded]


def _of_session(alike: Sequence[tuple[int, _Arrays, Sequence[int]]]) -> Iterator[tuple[slice, _Arrays, int]]:
    """Yield each session's blocks, its rows, and how many of its keys are taken."""
    start = 0
    for _, kept, visible in alike:
        stop = start + -(-len(visible) // _BLOCK)
        yield slice(start, stop), kept, _whole(visible[-1], _VECTOR)
        start = stop


def _pieces(keys: int) -> list[slice]:
    return [slice(first, min(first + _AT_ONCE, keys)) for first in range(0, keys, _AT_ONCE)]


def _whole(count: int, of: int) -> int:
    return -(-count // of) * of
