"""Checks a CT-Transformer's stored arrays before their use: a damaged or foreign file raises one kind of error.

An array of another shape (which a graph would broadcast), and an unknown layer, are refused by name. Names and shapes
are those of ``onnx_graph``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from caesura.worker.inference.network.row_graphs import Arrays

_Shape = tuple[int | None, ...]
"""The sizes of an array; None: any but none at all."""


def require_network(arrays: Arrays, *, layers: int, classes: Mapping[str, int], pieces: int) -> None:
    """Refuse arrays that are not those of such a network: ValueError that names the first one and what is wrong.

    layers: how many there must be, no more. classes: how many each head has, by its name. pieces: of the vocabulary, an
    embedding each at least.
    """
    stored = _Stored(arrays)
    stored.require_layers(layers)
    (width,) = stored.floats("embedding_norm.weight", (None,))
    stored.floats("embedding_norm.bias", (width,))
    stored.require_embeddings(pieces, width)
    stored.require_positions(width)
    for k in range(layers):
        stored.require_layer(f"layers.{k}.", width)
    for head, count in classes.items():
        stored.floats(f"{head}.weight", (width, count))
        stored.floats(f"{head}.bias", (count,))


class _Stored:
    """The arrays of one file. Every method raises ValueError."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def require_layers(self, wanted: int) -> None:
        found = {name.split(".")[1] for name in self._arrays if name.startswith("layers.")}
        if not found or found != {str(k) for k in range(wanted)}:
            told = (
                f"{len(found)} layers ({', '.join(sorted(found, key=lambda k: (len(k), k)))})" if found else "no layers"
            )
            raise ValueError(f"it has {told}, and the manifest's look_ahead is of {wanted}")

    def require_embeddings(self, pieces: int, width: int) -> None:
        if "embedding.int8" in self._arrays:
            (rows, _) = self._whole("embedding.int8", (None, width))
            self.floats("embedding.scale", (rows, 1))
        else:
            (rows, _) = self.floats("embedding.weight", (None, width))
        if rows < pieces:
            raise ValueError(f"it has embeddings of {rows} pieces, and the vocabulary {pieces}")

    def require_positions(self, width: int) -> None:
        if "positions.table" in self._arrays:
            self.floats("positions.table", (None, width))
            return
        self.floats("positions.rate", (width,))
        self._shaped("positions.even", (width,))
        self.floats("positions.map", (width, width))
        self.floats("positions.centre", (width,))

    def require_layer(self, prefix: str, width: int) -> None:
        self._require_product(f"{prefix}qkv", (width, 3 * width))
        self._require_product(f"{prefix}attended", (width, width))
        inner = self._require_product(f"{prefix}inner", (width, None))
        self._require_product(f"{prefix}outer", (inner, width))
        for norm in ("attention_norm", "output_norm"):
            self.floats(f"{prefix}{norm}.weight", (width,))
            self.floats(f"{prefix}{norm}.bias", (width,))

    def _require_product(self, name: str, shape: _Shape) -> int:
        """Require weights of a shape (K, M) and what goes with them; return M."""
        if f"{name}.int8" in self._arrays:
            (_, columns) = self._whole(f"{name}.int8", shape)
            self.floats(f"{name}.scale", (columns,))
        else:
            (_, columns) = self.floats(f"{name}.weight", shape)
        self.floats(f"{name}.bias", (columns,))
        return columns

    def floats(self, name: str, shape: _Shape) -> tuple[int, ...]:
        """Require finite floats of a shape; return it."""
        found = self._shaped(name, shape)
        array = self._arrays[name]
        if not np.issubdtype(array.dtype, np.floating):
            raise ValueError(f"{name} is of {array.dtype}, not of floats")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds a number that is not finite")
        return found

    def _whole(self, name: str, shape: _Shape) -> tuple[int, ...]:
        found = self._shaped(name, shape)
        if self._arrays[name].dtype != np.int8:
            raise ValueError(f"{name} is of {self._arrays[name].dtype}, not of int8")
        return found

    def _shaped(self, name: str, shape: _Shape) -> tuple[int, ...]:
        if name not in self._arrays:
            raise ValueError(f"it has no {name}")
        found = self._arrays[name].shape
        fits = len(found) == len(shape) and all(
            size == wanted if wanted is not None else size > 0 for size, wanted in zip(found, shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if size is None else str(size) for size in shape)
            raise ValueError(f"{name} has the shape {found}, not ({wanted}{',' if len(shape) == 1 else ''})")
        return found
