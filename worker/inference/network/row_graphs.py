"""A CT-Transformer's stored weights as small graphs over rows, for a run that computes each row once.

A row is one piece (sub-word). Attention is the only place where rows meet; all else is done row by row, whatever
session a row is of. So a network of K layers is cut at its attentions:

    entrance     pieces (N,), positions (N, D)   -> query (N, 2 D), key_value (N, 2 D) of layer 1
    step k       context (N, D), asked (N, 2 D)   -> the same of layer k + 1
    exit         context (N, D), asked (N, 2 D)   -> a score tensor a head

Between two of them the caller attends. ``query`` is a layer's input and its queries, side by side, the queries scaled
by 1 / sqrt(D / H); of the rows that the layer computes it comes back as ``asked``, with its attention's ``context``.
``key_value`` is its keys and its values, side by side, for the caller to keep.

int8: every row has one activation scale, as in the stored graph (``onnx_graph``), by fewer passes:
``QuantizeLinear`` by row, and ``MatMulIntegerToFloat`` with the weights' scales. The whole numbers and the order in
which they are scaled are the same. Weights that some processors would multiply wrongly are stored unsigned
(``saturation``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from caesura.worker.inference.network.graph_file import GraphWriter, Shaped
from caesura.worker.inference.network.saturation import ZERO_AT, too_large, unsigned

Arrays = Mapping[str, NDArray[np.generic]]

_TINY = 1e-12
_UNSEEN = -30_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGraphs:
    """The graphs as ONNX models, each written when it is asked for: they hold the weights, and not all are wanted.

    ``steps`` has one fewer than the network has ``layers``. names: of the score tensors.
    """

    arrays: Arrays
    layers: int
    names: Sequence[str]
    width: int
    attention_heads: int

    @property
    def entrance(self) -> bytes:
        """Return the graph before the first attention."""
        return self._rows().entrance()

    @property
    def embedding(self) -> bytes:
        """Return the beginning of ``entrance``: ``hidden`` (N, D), what comes into the first layer."""
        return self._rows().embedding()

    @property
    def steps(self) -> tuple[bytes, ...]:
        """Return the graphs between two attentions."""
        return tuple(self._rows().step(k) for k in range(self.layers - 1))

    @property
    def exit(self) -> bytes:
        """Return the graph behind the last attention."""
        return self._rows().exit(self.layers - 1, self.names)

    @property
    def heads(self) -> bytes:
        """Return the end of ``exit``, from what comes out of the last layer, ``hidden`` (N, D)."""
        return self._rows().heads(self.names)

    @property
    def weighing(self) -> bytes:
        """Return the graph that NumPy's attention weighs by: see ``_weighing``."""
        return _weighing()

    def _rows(self) -> _Rows:
        return _Rows(self.arrays, self.width, self.attention_heads)


def cut_into_rows(arrays: Arrays, *, layers: int, heads: Sequence[str]) -> RowGraphs:
    """Return the graphs of stored arrays. heads: the names of the score tensors. KeyError where an array is missing.

    What a graph itself lacks is a KeyError when it is asked for. ValueError: nothing says how many heads there are.
    """
    width = arrays["embedding_norm.weight"].shape[0]
    return RowGraphs(
        arrays=arrays, layers=layers, names=heads, width=width, attention_heads=_attention_heads(arrays, width)
    )


def _attention_heads(arrays: Arrays, width: int) -> int:
    """Return how many heads there are: a stored graph says it only in the shape (0, 0, heads, width / heads)."""
    fours = [array.tolist() for array in arrays.values() if array.shape == (4,) and array.dtype == np.int64]
    found = {heads for *first, heads, each in fours if first == [0, 0] and heads > 0 and heads * each == width}
    if len(found) != 1:
        told = "several shapes" if found else "no shape"
        raise ValueError(f"it has {told} (0, 0, heads, width of a head) that make up the width {width}")
    return int(found.pop())


def _weighing() -> bytes:
    """Return the graph from scores (N, S) to shares (N, S): a softmax over the keys that each row sees.

    They are the first one, and those from ``since`` (N, 1) up to ``visible`` (N, 1); ``columns`` is 0 … S - 1, (1, S).
    """
    graph = GraphWriter()
    leading = graph.add("Equal", "columns", graph.constant("leading", np.zeros((1, 1), dtype=np.int32)))
    near = graph.add("Or", leading, graph.add("GreaterOrEqual", "columns", "since"))
    visible = graph.add("And", near, graph.add("Less", "columns", "visible"))
    graph.add("Softmax", graph.add("Where", visible, "scores", graph.number(_UNSEEN)), output="shares", axis=-1)
    return graph.model(
        {
            "scores": (np.float32, ("N", "S")),
            "since": (np.int32, ("N", 1)),
            "visible": (np.int32, ("N", 1)),
            "columns": (np.int32, (1, "S")),
        },
        {"shares": (np.float32, ("N", "S"))},
    )


class _Rows:
    """One graph over rows, being written."""

    def __init__(self, arrays: Arrays, width: int, attention_heads: int) -> None:
        self._graph = GraphWriter()
        self._arrays = arrays
        self._width = width
        self._attention_heads = attention_heads

    def entrance(self) -> bytes:
        self._ask(0, self._embedded(output=None))
        return self._graph.model(self._read(), self._between())

    def embedding(self) -> bytes:
        self._embedded(output="hidden")
        return self._graph.model(self._read(), self._hidden())

    def _embedded(self, output: str | None) -> str:
        graph, arrays = self._graph, self._arrays
        if "embedding.int8" in arrays:
            whole = graph.add("Gather", graph.constant("embedding.int8", arrays["embedding.int8"]), "pieces")
            scales = graph.add("Gather", graph.constant("embedding.scale", arrays["embedding.scale"]), "pieces")
            rows = graph.add("Mul", graph.add("Cast", whole, to=1), scales)
        else:
            rows = graph.add("Gather", graph.constant("embedding.weight", arrays["embedding.weight"]), "pieces")
        return self._norm("embedding_norm", graph.add("Add", rows, "positions"), output=output)

    def step(self, k: int) -> bytes:
        self._ask(k + 1, self._after_attention(k))
        return self._graph.model(self._attended(), self._between())

    def exit(self, k: int, heads: Sequence[str]) -> bytes:
        return self._scored(self._after_attention(k), heads, self._attended())

    def heads(self, heads: Sequence[str]) -> bytes:
        return self._scored("hidden", heads, self._hidden())

    def _scored(self, hidden: str, heads: Sequence[str], given: dict[str, Shaped]) -> bytes:
        for head in heads:
            self._dense(head, hidden, output=head)
        classes: dict[str, Shaped] = {head: (np.float32, ("N", len(self._arrays[f"{head}.bias"]))) for head in heads}
        return self._graph.model(given, classes)

    def _read(self) -> dict[str, Shaped]:
        return {"pieces": (np.int64, ("N",)), "positions": (np.float32, ("N", self._width))}

    def _hidden(self) -> dict[str, Shaped]:
        return {"hidden": (np.float32, ("N", self._width))}

    def _attended(self) -> dict[str, Shaped]:
        return {"context": (np.float32, ("N", self._width)), "asked": (np.float32, ("N", 2 * self._width))}

    def _between(self) -> dict[str, Shaped]:
        return dict.fromkeys(("query", "key_value"), (np.float32, ("N", 2 * self._width)))

    def _after_attention(self, k: int) -> str:
        graph, prefix = self._graph, f"layers.{k}."
        inputs = self._columns("asked", 0, self._width)
        attended = graph.add("Add", self._linear(f"{prefix}attended", "context"), self._bias(f"{prefix}attended"))
        middle = self._norm(f"{prefix}attention_norm", graph.add("Add", inputs, attended))
        inner = self._linear(f"{prefix}inner", middle)
        opened = graph.add("com.microsoft/BiasGelu", inner, self._bias(f"{prefix}inner"))
        outer = graph.add("Add", self._linear(f"{prefix}outer", opened), self._bias(f"{prefix}outer"))
        return self._norm(f"{prefix}output_norm", graph.add("Add", middle, outer))

    def _ask(self, k: int, hidden: str) -> None:
        """Add what layer k asks with and sees; the queries' scale is in the weights' scales and the bias."""
        graph, width, heads = self._graph, self._width, self._attention_heads
        name = f"layers.{k}.qkv"
        by_column = np.ones(3 * width, dtype=np.float32)
        by_column[:width] = (width // heads) ** -0.5
        bias = graph.constant(f"{name}.bias", self._float(f"{name}.bias") * by_column)
        qkv = graph.add("Add", self._linear(name, hidden, by_column), bias)
        graph.add("Concat", hidden, self._columns(qkv, 0, width), output="query", axis=1)
        self._columns(qkv, width, 3 * width, output="key_value")

    def _columns(self, rows: str, first: int, stop: int, output: str | None = None) -> str:
        graph = self._graph
        return graph.add("Slice", rows, graph.integers(first), graph.integers(stop), graph.integers(1), output=output)

    def _norm(self, name: str, rows: str, output: str | None = None) -> str:
        gain = self._graph.constant(f"{name}.weight", self._float(f"{name}.weight"))
        shift = self._graph.constant(f"{name}.bias", self._float(f"{name}.bias"))
        return self._graph.add("LayerNormalization", rows, gain, shift, output=output, axis=-1, epsilon=_TINY)

    def _dense(self, name: str, rows: str, output: str) -> None:
        weight = self._graph.constant(f"{name}.weight", self._float(f"{name}.weight"))
        self._graph.add("Add", self._graph.add("MatMul", rows, weight), self._bias(name), output=output)

    def _bias(self, name: str) -> str:
        return self._graph.constant(f"{name}.bias", self._float(f"{name}.bias"))

    def _linear(self, name: str, rows: str, by_column: NDArray[np.float32] | None = None) -> str:
        """Add a product without its bias; by_column scales what comes out."""
        graph = self._graph
        if f"{name}.int8" not in self._arrays:
            weight = self._float(f"{name}.weight")
            stored = weight if by_column is None else weight * by_column
            return graph.add("MatMul", rows, graph.constant(f"{name}.weight", stored))
        columns = self._float(f"{name}.scale")
        scaled = graph.constant(f"{name}.scale", columns if by_column is None else columns * by_column)
        whole, row_scale = self._quantised(rows)
        zero_at = graph.constant("zero_at", np.asarray(ZERO_AT))
        weights = self._arrays[f"{name}.int8"]
        given = [graph.constant(f"{name}.int8", weights), graph.number(1.0), scaled, zero_at]
        if too_large(weights):
            given = [graph.constant(f"{name}.uint8", unsigned(weights)), graph.number(1.0), scaled, zero_at, zero_at]
        product = graph.add("com.microsoft/MatMulIntegerToFloat", whole, *given)
        return graph.add("Mul", product, row_scale)

    def _quantised(self, rows: str) -> tuple[str, str]:
        """Add the rows as uint8 with their zero at 128, and the scale of each (N, 1)."""
        graph = self._graph
        largest = graph.add("ReduceMax", graph.add("Abs", rows), graph.integers(1), keepdims=0)
        scale = graph.add("Div", graph.add("Max", largest, graph.number(_TINY)), graph.number(127.0))  # (N,)
        zeros = graph.add("Expand", graph.constant("zero_at", np.asarray(ZERO_AT)), graph.add("Shape", scale))
        whole = graph.add("QuantizeLinear", rows, scale, zeros, axis=0)
        return whole, graph.add("Unsqueeze", scale, graph.integers(1))

    def _float(self, name: str) -> NDArray[np.float32]:
        return self._arrays[name].astype(np.float32)
