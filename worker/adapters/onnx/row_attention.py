"""Attention of many sessions' rows, each to its own session's keys: the one place where rows meet.

Rules:

1. Every session's product is taken by itself, straight from its kept keys and values: nothing is copied together, and
   nothing depends on who shares the batch. Only the softmax runs over all of them at once.
2. A row comes out the same to the last bit however many rows are asked for beside it, so that a word that is computed
   again (after an eviction, in another worker) says what it said before. With AVX-512 kernels that takes three things:
   keys in whole vectors of 16, no product of a single row, and sums over a multiple of ``_PADDED_TO`` shares. On other
   processors the last bit may differ, with it an activation's rounding, and now and then a close label (ADR 0024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.adapters.onnx.kept_rows import KeptRows

__all__ = ["RowAttention"]

_PADDED_TO = 64
_VECTOR = 16
_FEWEST_ROWS = 2

Rows = NDArray[np.float32]


class RowAttention:
    """Attends for one network. weighing: the session of ``row_graphs``'s graph of that name."""

    def __init__(self, weighing: Any, attention_heads: int) -> None:  # noqa: ANN401 - onnxruntime ships without types
        self._weighing = weighing
        self._heads = attention_heads
        self._scratch: Rows = np.empty(0, dtype=np.float32)
        self._columns = np.arange(_PADDED_TO, dtype=np.int32)[None]

    def mix(self, k: int, asking: Rows, sessions: Sequence[tuple[KeptRows, Sequence[int]]]) -> Rows:
        """Return what layer k's attention mixes (M, D) for inputs and queries (M, 2 D), session after session.

        sessions: the rows kept of each, and how many of its keys each of its queries sees, ascending.
        """
        queries = asking[:, asking.shape[1] // 2 :]
        mixed = np.empty(queries.shape, dtype=np.float32)
        by_length: dict[int, list[tuple[int, KeptRows, Sequence[int]]]] = {}
        place = 0
        for kept, visible in sessions:
            if visible:
                padded = -(-visible[-1] // _PADDED_TO) * _PADDED_TO
                by_length.setdefault(padded, []).append((place, kept, visible))
                place += len(visible)
        for padded, alike in by_length.items():
            self._mix_alike(k, queries, mixed, padded, alike)
        return mixed

    def _mix_alike(
        self, k: int, queries: Rows, mixed: Rows, padded: int, alike: Sequence[tuple[int, KeptRows, Sequence[int]]]
    ) -> None:
        heads, per_head = self._heads, queries.shape[1] // self._heads
        total = heads * sum(max(len(visible), _FEWEST_ROWS) for _, _, visible in alike)
        scores = self._room(total * padded).reshape(total, padded)
        seen = np.empty((total, 1), dtype=np.int32)
        start = 0
        for place, kept, visible in alike:
            rows, keys = max(len(visible), _FEWEST_ROWS), -(-visible[-1] // _VECTOR) * _VECTOR
            stop = start + heads * rows
            seen[start:stop].reshape(heads, rows)[:] = visible
            asked = queries[place : place + len(visible)].reshape(len(visible), heads, per_head)
            if len(visible) < rows:
                asked = np.repeat(asked, rows, axis=0)
            block = scores[start:stop].reshape(heads, rows, padded)[:, :, :keys]
            np.matmul(asked.transpose(1, 0, 2), kept.keys[k, :, :, :keys], out=block)
            start = stop
        (shares,) = self._weighing.run(None, {"scores": scores, "visible": seen, "columns": self._up_to(padded)})
        start = 0
        for place, kept, visible in alike:
            rows, keys = max(len(visible), _FEWEST_ROWS), visible[-1]
            stop = start + heads * rows
            share = shares[start:stop].reshape(heads, rows, padded)[:, :, :keys]
            out = mixed[place : place + len(visible)].reshape(len(visible), heads, per_head).transpose(1, 0, 2)
            if len(visible) < rows:
                out[:] = np.matmul(share, kept.values[k, :, :keys])[:, :1]
            else:
                np.matmul(share, kept.values[k, :, :keys], out=out)
            start = stop

    def _room(self, size: int) -> Rows:
        if len(self._scratch) < size:
            self._scratch = np.empty(size, dtype=np.float32)
        return self._scratch[:size]

    def _up_to(self, padded: int) -> NDArray[np.int32]:
        if self._columns.shape[1] < padded:
            self._columns = np.arange(padded, dtype=np.int32)[None]
        return self._columns[:, :padded]
