"""A CT-Transformer as an ONNX graph, written node by node: in fp32, or in int8 that does not depend on the batch.

Inputs: ``pieces`` and ``word_index`` (B, S), int64, as the network takes them. Outputs: ``punctuation`` (B, S, P),
``disfluency`` (B, S, Q) and, where the network has these heads, ``casing`` (B, S, C) and ``closing`` (B, S, P), float.

int8 (docs/design.md, *The engine*). ONNX Runtime's own dynamic quantisation takes one activation scale over a whole
tensor, so a label would depend on the sessions that share the batch. Here every row, that is every piece, has its own:

1. scale = the row's largest magnitude / 127; 2. round to whole numbers and move to 1 … 255, zero at 128;
3. ``MatMulInteger`` with the weights (-63 … 63, a scale an output channel); 4. scale back, add the bias.

Rows do not meet, and whole numbers add up the same in any order. The weights use seven bits of eight, because on x86
processors without VNNI the product of two pairs is summed in 16 bits, which 255 × 127 × 2 overflows and 255 × 63 × 2
does not: so the labels are the same on all of them. Embeddings are int8 with a scale a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from caesura.models.networks.ct_transformer import CTConfig
from caesura.worker.inference.network.graph_file import Array

_OPSET = 20
_IR_VERSION = 9
_UNSEEN = -30_000.0
_TINY = 1e-12
_LARGEST_WEIGHT = 63


class _Graph:
    """Nodes and initialisers as they are added; every method returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self._count = 0

    @property
    def constants(self) -> Sequence[onnx.TensorProto]:
        return tuple(self._constants.values())

    def add(self, op: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:  # noqa: ANN401 - ONNX has no type for them
        self._count += 1
        name = output or f"{op.lower()}_{self._count}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(self, name: str, array: Array) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def number(self, value: float) -> str:
        return self.constant(f"number_{value}", np.array(value, dtype=np.float32))

    def integers(self, *values: int) -> str:
        return self.constant("integers_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))


def build_graph(config: CTConfig, weights: dict[str, NDArray[np.float32]], *, int8: bool) -> onnx.ModelProto:
    """Return the ONNX model of a network with these weights (``CTTransformer.state_dict`` as arrays)."""
    graph = _Graph()
    hidden = _embed(graph, config, weights, int8=int8)
    seen = graph.add("Unsqueeze", "word_index", graph.integers(1, 2))  # (B, 1, 1, S)
    seer = graph.add("Unsqueeze", "word_index", graph.integers(1, 3))  # (B, 1, S, 1)
    masks = {
        look_ahead: _mask(graph, seen, seer, look_ahead, config.look_back)
        for look_ahead in dict.fromkeys(config.look_ahead)
    }
    for k, look_ahead in enumerate(config.look_ahead):
        hidden = _layer(graph, config, weights, f"layers.{k}.", hidden, masks[look_ahead], int8=int8)
    for head in _heads_of(config):
        _linear(graph, weights, head, hidden, int8=False, output=head)
    return _model(graph, config)


def _heads_of(config: CTConfig) -> dict[str, int]:
    """Return the number of classes of each head that the network has, by its name."""
    classes = {
        "punctuation": config.punctuation_classes,
        "disfluency": config.disfluency_classes,
        "casing": config.casing_classes,
        "closing": config.punctuation_classes * config.closing,
    }
    return {head: number for head, number in classes.items() if number}


def _model(graph: _Graph, config: CTConfig) -> onnx.ModelProto:
    def rows(name: str, kind: int, *shape: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, ["B", "S", *shape])

    body = helper.make_graph(
        graph.nodes,
        "ct_transformer",
        [rows("pieces", TensorProto.INT64), rows("word_index", TensorProto.INT64)],
        [rows(head, TensorProto.FLOAT, classes) for head, classes in _heads_of(config).items()],
        graph.constants,
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="caesura")
    model.ir_version = _IR_VERSION
    onnx.checker.check_model(model, full_check=True)
    return model


def _embed(graph: _Graph, config: CTConfig, weights: dict[str, NDArray[np.float32]], *, int8: bool) -> str:
    table = weights["embedding.weight"]
    if int8:
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), _TINY) / 127
        rows = graph.constant("embedding.int8", np.round(table / scale).astype(np.int8))
        scales = graph.constant("embedding.scale", scale.astype(np.float32))
        whole = graph.add("Cast", graph.add("Gather", rows, "pieces"), to=TensorProto.FLOAT)
        hidden = graph.add("Mul", whole, graph.add("Gather", scales, "pieces"))
    else:
        hidden = graph.add("Gather", graph.constant("embedding.weight", table), "pieces")
    hidden = graph.add("Add", hidden, _positions(graph, config, weights))
    return _norm(graph, weights, "embedding_norm", hidden)


def _positions(graph: _Graph, config: CTConfig, weights: dict[str, NDArray[np.float32]]) -> str:
    """Add the (S, D) position encoding, computed for as many pieces as come."""
    length = graph.add("Gather", graph.add("Shape", "pieces"), graph.constant("one", np.array(1, dtype=np.int64)))
    zero, one = (graph.constant(f"range_{n}", np.array(n, dtype=np.int64)) for n in (0, 1))
    positions = graph.add("Range", zero, length, one)  # (S,)
    if config.positions == "learned":
        table = weights["positions.table"]
        last = graph.constant("last_position", np.array(len(table) - 1, dtype=np.int64))
        return graph.add("Gather", graph.constant("positions.table", table), graph.add("Min", positions, last))
    rate = np.exp(np.arange(0, config.width, 2, dtype=np.float32) * np.float32(-np.log(10000.0) / config.width))
    column = graph.add("Unsqueeze", graph.add("Cast", positions, to=TensorProto.FLOAT), graph.integers(1))  # (S, 1)
    angles = graph.add("Mul", column, graph.constant("positions.rate", np.repeat(rate, 2)))  # (S, D)
    even = graph.constant("positions.even", np.arange(config.width) % 2 == 0)
    waves = graph.add("Where", even, graph.add("Sin", angles), graph.add("Cos", angles))
    mapped = graph.add("MatMul", waves, graph.constant("positions.map", weights["positions.map"]))
    return graph.add("Add", mapped, graph.constant("positions.centre", weights["positions.centre"]))


def _mask(graph: _Graph, seen: str, seer: str, look_ahead: int, look_back: int | None) -> str:
    """Add the paper's matrix M (B, 1, S, S), counted in words, with what ``CTConfig.look_back`` takes from it."""
    farthest = graph.add("Add", seer, graph.integers(look_ahead))
    visible = graph.add("LessOrEqual", seen, farthest)
    if look_back is not None:
        near = graph.add("GreaterOrEqual", seen, graph.add("Sub", seer, graph.integers(look_back)))
        leading = graph.add("Equal", seen, graph.integers(0))
        visible = graph.add("And", visible, graph.add("Or", near, leading))
    return graph.add("Where", visible, graph.number(0.0), graph.number(_UNSEEN))


def _layer(
    graph: _Graph,
    config: CTConfig,
    weights: dict[str, NDArray[np.float32]],
    prefix: str,
    hidden: str,
    mask: str,
    *,
    int8: bool,
) -> str:
    per_head = config.width // config.heads
    qkv = _linear(graph, weights, f"{prefix}qkv", hidden, int8=int8)  # (B, S, 3 D)
    query, key, value = (_heads(graph, part, config.heads, per_head) for part in _thirds(graph, qkv, config.width))
    scaled = graph.add("Mul", query, graph.number(per_head**-0.5))
    scores = graph.add("MatMul", scaled, graph.add("Transpose", key, perm=[0, 1, 3, 2]))  # (B, H, S, S)
    shares = graph.add("Softmax", graph.add("Add", scores, mask), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    flat = graph.add("Reshape", mixed, graph.integers(0, 0, config.width))
    attended = _linear(graph, weights, f"{prefix}attended", flat, int8=int8)
    hidden = _norm(graph, weights, f"{prefix}attention_norm", graph.add("Add", hidden, attended))
    inner = graph.add("Gelu", _linear(graph, weights, f"{prefix}inner", hidden, int8=int8))
    outer = _linear(graph, weights, f"{prefix}outer", inner, int8=int8)
    return _norm(graph, weights, f"{prefix}output_norm", graph.add("Add", hidden, outer))


def _thirds(graph: _Graph, qkv: str, width: int) -> list[str]:
    ends = [graph.integers(k * width) for k in range(4)]
    return [graph.add("Slice", qkv, ends[k], ends[k + 1], graph.integers(2)) for k in range(3)]


def _heads(graph: _Graph, rows: str, heads: int, per_head: int) -> str:
    shaped = graph.add("Reshape", rows, graph.integers(0, 0, heads, per_head))
    return graph.add("Transpose", shaped, perm=[0, 2, 1, 3])  # (B, H, S, D/H)


def _norm(graph: _Graph, weights: dict[str, NDArray[np.float32]], name: str, hidden: str) -> str:
    gain = graph.constant(f"{name}.weight", weights[f"{name}.weight"])
    shift = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return graph.add("LayerNormalization", hidden, gain, shift, axis=-1, epsilon=1e-12)


def _linear(
    graph: _Graph,
    weights: dict[str, NDArray[np.float32]],
    name: str,
    rows: str,
    *,
    int8: bool,
    output: str | None = None,
) -> str:
    weight = weights[f"{name}.weight"].T  # (in, out)
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    if not int8:
        product = graph.add("MatMul", rows, graph.constant(f"{name}.weight", weight))
        return graph.add("Add", product, bias, output=output)
    column_scale = np.maximum(np.abs(weight).max(axis=0), _TINY) / _LARGEST_WEIGHT  # (out,)
    whole = graph.constant(f"{name}.int8", np.round(weight / column_scale).astype(np.int8))
    columns = graph.constant(f"{name}.scale", column_scale.astype(np.float32))
    moved, row_scale = _quantised_rows(graph, rows)
    sums = graph.add("MatMulInteger", moved, whole, graph.constant("zero_at", np.array(128, dtype=np.uint8)))
    product = graph.add("Mul", graph.add("Cast", sums, to=TensorProto.FLOAT), columns)
    return graph.add("Add", graph.add("Mul", product, row_scale), bias, output=output)


def _quantised_rows(graph: _Graph, rows: str) -> tuple[str, str]:
    """Add the rows as uint8 with their zero at 128, and the scale of each (B, S, 1)."""
    largest = graph.add("ReduceMax", graph.add("Abs", rows), graph.integers(2), keepdims=1)
    scale = graph.add("Div", graph.add("Max", largest, graph.number(_TINY)), graph.number(127.0))
    whole = graph.add("Round", graph.add("Div", rows, scale))
    moved = graph.add("Add", whole, graph.number(128.0))
    return graph.add("Cast", moved, to=TensorProto.UINT8), scale
