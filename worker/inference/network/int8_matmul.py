"""What lies between two attentions, by ``int8_kernels`` in place of a graph of ``row_graphs`` (docs/engine.md).

The same numbers in fewer passes: each product takes float rows in and gives float rows out, with what follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from caesura.worker.inference.kv_cache.aligned_arrays import aligned_bytes, aligned_rows
from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.native import is_compiled
from caesura.worker.inference.network.row_graphs import Arrays

if is_compiled("int8_kernels"):
    from caesura.worker.inference.native import int8_kernels

    KINDS: list[str] = int8_kernels.kinds()
else:
    KINDS = []

__all__ = ["KINDS", "CompiledEntrance", "CompiledExit", "CompiledStep", "multiplies"]

_COLUMNS, _TOGETHER, _WIDEST, _MORE = 64, 32, 2**16, 64
_LINEAR = ("qkv", "attended", "inner", "outer")


class _Weights(NamedTuple):
    """One product's, as ``int8_kernels`` has them.

    packed (M / 32, K / 64, 2, 16, 64), most (K / 32,), scales and bias (M,).
    """

    packed: NDArray[np.uint8]
    most: NDArray[np.int32]
    scales: Rows
    bias: Rows


def multiplies(arrays: Arrays, layers: int) -> bool:
    """Tell whether this processor can, and all the layers' weights are int8 of widths that it multiplies."""
    names = [f"layers.{k}.{name}" for k in range(layers) for name in _LINEAR]
    return bool(KINDS) and all(_is_known(arrays, name) for name in names)


def _is_known(arrays: Arrays, name: str) -> bool:
    weights = arrays.get(f"{name}.int8")
    if (
        weights is None
        or weights.dtype != np.int8
        or any(not 0 < size <= _WIDEST or size % _COLUMNS for size in weights.shape)
    ):
        return False
    if weights.min() < -_MORE or weights.max() >= _MORE:  # two products of more do not fit 16 bits
        return False
    return all(arrays[f"{name}.{part}"].size == weights.shape[1] for part in ("scale", "bias"))


class _Behind:
    """Layer k's rows behind its attention."""

    def __init__(self, arrays: Arrays, k: int) -> None:
        own = f"layers.{k}."
        self._attended, self._inner, self._outer = (_weights(arrays, own + name) for name in _LINEAR[1:])
        self._middle_norm, self._output_norm = _norm(arrays, f"{own}attention_norm"), _norm(arrays, f"{own}output_norm")

    def put(self, given: Mapping[str, Rows], hidden: Rows) -> None:
        """Write what comes out of the layer (N, D) for context (N, D) and asked (N, 2 D)."""
        rows, width = hidden.shape
        middle, opened = aligned_rows(rows, width), aligned_rows(rows, len(self._inner.bias))
        int8_kernels.normed(given["context"], *self._attended, middle, given["asked"][:, :width], *self._middle_norm)
        int8_kernels.gelu(middle, *self._inner, opened)
        int8_kernels.normed(opened, *self._outer, hidden, middle, *self._output_norm)


class CompiledEntrance:
    """The rows that come in by a graph, and what the first layer asks with and sees: the same bits as by one graph."""

    def __init__(self, arrays: Arrays, attention_heads: int, embedding: Any) -> None:  # noqa: ANN401 - as below
        """Pack the weights. embedding: the opened graph. KeyError where an array is missing."""
        self._asking, self._embedding = _asking(arrays, 0, attention_heads), embedding

    def run(self, _: Sequence[str], given: Mapping[str, NDArray[Any]]) -> list[Rows]:
        """Return query (N, 2 D) and key_value (N, 2 D) for pieces (N,) and positions (N, D)."""
        (hidden,) = self._embedding.run(["hidden"], given)
        rows, width = hidden.shape
        query, key_value = aligned_rows(rows, 2 * width), aligned_rows(rows, 2 * width)
        int8_kernels.rounded(hidden, *self._asking, query[:, width:], key_value)
        query[:, :width] = hidden
        return [query, key_value]


class CompiledExit:
    """The last layer's rows behind its attention, and their scores by a graph."""

    def __init__(self, arrays: Arrays, k: int, heads: Any) -> None:  # noqa: ANN401 - onnxruntime ships without types
        """Pack the weights. heads: the opened graph. KeyError where an array is missing."""
        self._behind, self._heads = _Behind(arrays, k), heads

    def run(self, names: Sequence[str], given: Mapping[str, Rows]) -> list[Rows]:
        """Return the scores (N, C) of the heads for context (N, D) and asked (N, 2 D)."""
        hidden = aligned_rows(*given["context"].shape)
        self._behind.put(given, hidden)
        scores: list[Rows] = self._heads.run(names, {"hidden": hidden})
        return scores


class CompiledStep:
    """Layer k's rows behind its attention, and what layer k + 1 asks with and sees."""

    def __init__(self, arrays: Arrays, k: int, attention_heads: int) -> None:
        """Pack the weights. KeyError where an array is missing."""
        self._behind, self._asking = _Behind(arrays, k), _asking(arrays, k + 1, attention_heads)

    def run(self, _: Sequence[str], given: Mapping[str, Rows]) -> list[Rows]:
        """Return query (N, 2 D) and key_value (N, 2 D) for context (N, D) and asked (N, 2 D)."""
        rows, width = given["context"].shape
        query, key_value = aligned_rows(rows, 2 * width), aligned_rows(rows, 2 * width)
        hidden = query[:, :width]
        self._behind.put(given, hidden)
        int8_kernels.plain(hidden, *self._asking, query[:, width:], key_value)
        return [query, key_value]


def _weights(arrays: Arrays, name: str) -> _Weights:
    whole = arrays[f"{name}.int8"]
    return _Weights(_packed(whole), _most(whole), _float(arrays[f"{name}.scale"]), _float(arrays[f"{name}.bias"]))


def _packed(whole: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Return weights of -64 to 63 (K, M) as (M / 32, K / 64, 2, 16, 64), each 64 more than it is.

    64 bytes are 16 columns, four numbers of each: one row of a tile.
    """
    depth, columns = whole.shape
    unsigned = (whole.astype(np.int16) + _MORE).astype(np.uint8)
    parts = unsigned.reshape(depth // 64, 16, 4, columns // _TOGETHER, 2, 16).transpose(3, 0, 4, 1, 5, 2)
    packed = aligned_bytes(columns * depth).reshape(parts.shape)
    packed[:] = parts
    return packed.reshape(columns // _TOGETHER, depth // 64, 2, 16, 64)


def _most(whole: NDArray[np.generic]) -> NDArray[np.int32]:
    """Return for weights (K, M), 32 in depth at a time, what squares of a row's numbers may add up to (K / 32,).

    Those whose products are added up in 16 bits are the first, or the last, two of each four; by Cauchy and Schwarz the
    sum is 32,767 at most then, with any column.
    """
    squares = np.square(whole.astype(np.int32)).reshape(-1, _TOGETHER // 4, 2, 2, whole.shape[1]).sum(axis=(1, 3))
    most: NDArray[np.int32] = (32767**2 // np.maximum(squares.max(axis=(1, 2)), 1)).astype(np.int32)
    return most


def _asking(arrays: Arrays, k: int, attention_heads: int) -> _Weights:
    """Return the product that layer k's queries, which are scaled, keys and values come of."""
    qkv = _weights(arrays, f"layers.{k}.qkv")
    width = len(qkv.bias) // 3
    factor = np.float32((width // attention_heads) ** -0.5)
    qkv.scales[:width] *= factor
    qkv.bias[:width] *= factor
    return qkv


def _norm(arrays: Arrays, name: str) -> tuple[Rows, Rows]:
    return _float(arrays[f"{name}.weight"]), _float(arrays[f"{name}.bias"])


def _float(array: NDArray[np.generic]) -> Rows:
    """Return a row of its own: what lies in a file is not aligned, and is called little-endian rather than plain."""
    row = np.empty(array.size, dtype=np.float32)
    row[:] = array.reshape(-1)
    return row
