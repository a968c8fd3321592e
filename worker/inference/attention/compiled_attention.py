"""Attention by ``attention_kernels``: all sessions of a pass in one call (docs/engine.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from caesura.worker.inference.attention.attention import RowAttention, VisibleRange
from caesura.worker.inference.kv_cache.aligned_arrays import aligned_rows
from caesura.worker.inference.kv_cache.kv_blocks import OWN_ROWS, BlockPool, Blocks
from caesura.worker.inference.kv_cache.kv_cache import KVCache, Rows
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit
from caesura.worker.inference.native import is_compiled

if is_compiled("attention_kernels"):
    from caesura.worker.inference.native import attention_kernels

    COMPILED = bool(attention_kernels.kinds())
else:
    COMPILED = False

__all__ = ["COMPILED", "CompiledAttention"]

_VECTOR = 16


class CompiledAttention(RowAttention):
    """Attends for one network."""

    def __init__(self, layers: int, heads: int, head_width: int, bound: MemoryLimit) -> None:
        self._pool = BlockPool(layers, heads, head_width, bound)
        self._blocks: NDArray[np.int32]
        self._counts: NDArray[np.int32]
        self._gone: NDArray[np.int32]
        self._seen: VisibleRange | None = None
        self._begins: NDArray[np.int32]
        self._ends: NDArray[np.int32]

    @staticmethod
    def knows(head_width: int) -> bool:
        """Tell whether it is there, for heads of that width."""
        return COMPILED and head_width % _VECTOR == 0

    @override
    def room(self) -> Blocks:
        return Blocks(self._pool)

    @override
    def begin(self, sessions: Sequence[KVCache]) -> None:
        rooms = [cast("Blocks", kept.room) for kept in sessions]
        self._seen = None
        self._counts = np.array([len(own.numbers) for own in rooms], dtype=np.int32)
        self._gone = np.array([own.gone * OWN_ROWS for own in rooms], dtype=np.int32)
        self._blocks = np.fromiter(chain.from_iterable(own.numbers for own in rooms), np.int32, int(self._counts.sum()))

    @override
    def keep(self, k: int, key_value: Rows, places: NDArray[np.int32]) -> None:
        starts, stops = places.T
        attention_kernels.keep(
            k, self._pool.slabs, self._blocks, self._counts, stops - starts, starts - self._gone, key_value
        )

    @override
    def attend(self, k: int, query: Rows, visible_range: VisibleRange) -> Rows:
        if self._seen is not visible_range:  # layers that see alike are given the same
            gone = np.repeat(self._gone, visible_range.queries)
            self._seen, self._begins, self._ends = visible_range, visible_range.begins - gone, visible_range.ends - gone
        context = aligned_rows(len(query), query.shape[1] // 2)
        attention_kernels.attend(
            k,
            self._pool.slabs,
            self._blocks,
            self._counts,
            visible_range.queries,
            self._begins,
            self._ends,
            query,
            context,
        )
        return context
