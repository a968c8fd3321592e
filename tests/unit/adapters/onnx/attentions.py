"""Attention for tests: every kind that is compiled here, NumPy's, and a plain one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from worker.adapters.onnx.compiled_attention import COMPILED, CompiledAttention
from worker.adapters.onnx.inference_session import open_graph
from worker.adapters.onnx.kept_rows import Rows
from worker.adapters.onnx.numpy_attention import NumpyAttention
from worker.adapters.onnx.row_attention import RowAttention, Sight
from worker.adapters.onnx.row_graphs import _weighing
from worker.adapters.onnx.slab_bound import SlabBound

if COMPILED:
    from worker.adapters.onnx import row_kernels

    KINDS = row_kernels.kinds()
else:
    KINDS = []
LAYERS = 3


class OfKind(CompiledAttention):
    """Computes as another kind of processor would that this one is, too."""

    def __init__(self, kind: str, heads: int, width: int) -> None:
        super().__init__(LAYERS, heads, width // heads, SlabBound(0))
        self._kind = kind

    @override
    def keep(self, k: int, seen: Rows, places: NDArray[np.int32]) -> None:
        with self._chosen():
            super().keep(k, seen, places)

    @override
    def mix(self, k: int, asking: Rows, sight: Sight) -> Rows:
        with self._chosen():
            return super().mix(k, asking, sight)

    @contextmanager
    def _chosen(self) -> Iterator[None]:
        row_kernels.choose(self._kind)
        try:
            yield
        finally:
            row_kernels.choose(KINDS[0])


def attentions(heads: int, width: int) -> list[RowAttention]:
    """Return what is compiled for each kind of processor that this one is, and NumPy's."""
    compiled = [OfKind(kind, heads, width) for kind in KINDS]
    return [*compiled, NumpyAttention(open_graph("none", _weighing(), 1), LAYERS, heads, width)]


def all_before(visible: Sequence[Sequence[int]]) -> Sight:
    """Return the sight of queries that see all keys up to theirs."""
    return Sight.of(visible, [[1] * len(own) for own in visible])


def plain(asked: Rows, given: Rows, sight: Sequence[int], heads: int, since: Sequence[int] | None = None) -> Rows:
    """Attend as it is written in books, in double precision, to keys and values that are kept in half."""
    seen = given.astype(np.float16)
    rows, width = len(asked), seen.shape[1] // 2
    queries = asked[:, width:].astype(float).reshape(rows, heads, width // heads)
    keys, values = (half.astype(float).reshape(len(seen), heads, width // heads) for half in np.split(seen, 2, axis=1))
    mixed = np.empty((rows, width), dtype=np.float32)
    for row, count in enumerate(sight):
        looked_at = [0, *range(1 if since is None else since[row], count)]
        scores = np.einsum("hp,nhp->hn", queries[row], keys[looked_at])
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        mixed[row] = np.einsum("hn,nhp->hp", shares, values[looked_at]).reshape(-1)
    return mixed


def drawn(rng: np.random.Generator, *shape: int) -> Rows:
    return rng.standard_normal(shape, dtype=np.float32)
