"""Attention by ``row_kernels``: all sessions of a pass in one call (docs/engine.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from worker.adapters.onnx.kept_rows import KeptRows, Rows
from worker.adapters.onnx.line_memory import rows_at_a_line
from worker.adapters.onnx.row_attention import RowAttention, Sight
from worker.adapters.onnx.row_blocks import OWN_ROWS, BlockPool, Blocks
from worker.adapters.onnx.slab_bound import SlabBound

try:
    from worker.adapters.onnx.row_kernels import keep, kinds, mix
except ModuleNotFoundError:  # nothing was compiled at installation; what cannot be loaded is an error
    COMPILED = False
else:
    COMPILED = bool(kinds())

__all__ = ["COMPILED", "CompiledAttention"]

_VECTOR = 16


class CompiledAttention(RowAttention):
    """Attends for one network."""

    def __init__(self, layers: int, heads: int, head_width: int, bound: SlabBound) -> None:
        self._pool = BlockPool(layers, heads, head_width, bound)
        self._blocks: NDArray[np.int32]
        self._counts: NDArray[np.int32]
        self._gone: NDArray[np.int32]
        self._seen: Sight | None = None
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
    def begin(self, sessions: Sequence[KeptRows]) -> None:
        rooms = [cast("Blocks", kept.room) for kept in sessions]
        self._seen = None
        self._counts = np.array([len(own.numbers) for own in rooms], dtype=np.int32)
        self._gone = np.array([own.gone * OWN_ROWS for own in rooms], dtype=np.int32)
        self._blocks = np.fromiter(chain.from_iterable(own.numbers for own in rooms), np.int32, int(self._counts.sum()))

    @override
    def keep(self, k: int, seen: Rows, places: NDArray[np.int32]) -> None:
        starts, stops = places.T
        keep(k, self._pool.slabs, self._blocks, self._counts, stops - starts, starts - self._gone, seen)

    @override
    def mix(self, k: int, asking: Rows, sight: Sight) -> Rows:
        if self._seen is not sight:  # layers that see alike are given the same
            gone = np.repeat(self._gone, sight.queries)
            self._seen, self._begins, self._ends = sight, sight.begins - gone, sight.ends - gone
        mixed = rows_at_a_line(len(asking), asking.shape[1] // 2)
        mix(k, self._pool.slabs, self._blocks, self._counts, sight.queries, self._begins, self._ends, asking, mixed)
        return mixed
