"""Attention by ``row_kernels``: all sessions of a pass in one call (ADR 0050)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from typing_extensions import override

from worker.adapters.onnx.kept_rows import KeptRows, Rows
from worker.adapters.onnx.row_attention import RowAttention

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

    @staticmethod
    def knows(head_width: int) -> bool:
        """Tell whether it is there, for heads of that width."""
        return COMPILED and head_width % _VECTOR == 0

    @override
    def keep(self, k: int, seen: Rows, sessions: Sequence[tuple[KeptRows, tuple[int, int]]]) -> None:
        starts, stops = np.array([places for _, places in sessions], dtype=np.int32).reshape(-1, 2).T
        keys, values = _kept([kept for kept, _ in sessions])
        keep(k, keys, values, stops - starts, starts.copy(), seen)

    @override
    def mix(self, k: int, asking: Rows, sessions: Sequence[tuple[KeptRows, Sequence[int]]]) -> Rows:
        rows = np.array([len(visible) for _, visible in sessions], dtype=np.int32)
        sight = np.fromiter(chain.from_iterable(visible for _, visible in sessions), np.int32, len(asking))
        mixed = np.empty((len(asking), asking.shape[1] // 2), dtype=np.float32)
        keys, values = _kept([kept for kept, _ in sessions])
        mix(k, keys, values, rows, sight, asking, mixed)
        return mixed


def _kept(sessions: Sequence[KeptRows]) -> tuple[list[Rows], list[Rows]]:
    return [kept.keys for kept in sessions], [kept.values for kept in sessions]
