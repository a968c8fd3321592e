"""An int8 ONNX export that keeps BERT's names, all but those of its linear weights, back to fp32 (``dequantisation``).

PyTorch's exporter calls a linear weight ``val_39`` and its bias ``bert.encoder.layer.0.attention.self.query.bias``; the
quantiser leaves an integer product, a cast and a scaling between the two. So each weight takes the name of the bias
that is added to its product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from numpy.typing import NDArray

__all__ = ["named_by_biases"]

_Arrays = Mapping[str, NDArray[np.generic]]

_PREFIX = "bert."
_QUANTISED = "_quantized"
_STEPS_TO_BIAS = 3


def named_by_biases(graph: onnx.GraphProto, arrays: _Arrays) -> dict[str, NDArray[np.generic]]:
    """Return the arrays by BERT's names, linear weights as stored (in, out), with their scale and zero point.

    ValueError where no bias is added to a product.
    """
    out = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    readers = {name: node for node in graph.node for name in node.input}
    for node in graph.node:
        if node.op_type != "MatMulInteger" or not node.input[1].endswith(_QUANTISED):
            continue
        stored = node.input[1].removesuffix(_QUANTISED)
        bias = next(_biases(node, readers, arrays), None)
        if bias is None:
            raise ValueError(f"no bias is added to the product of {stored}")
        if bias.startswith(_PREFIX):
            name = bias.removeprefix(_PREFIX).removesuffix("bias") + "weight"
            out |= {name + part: arrays[stored + part] for part in (_QUANTISED, "_scale", "_zero_point")}
    return out


def _biases(node: onnx.NodeProto, readers: Mapping[str, onnx.NodeProto], arrays: _Arrays) -> Iterator[str]:
    """Yield the stored biases that are added to what the node says, within a few steps."""
    for _ in range(_STEPS_TO_BIAS):
        node = readers[node.output[0]]
        if node.op_type == "Add":
            yield from (name for name in node.input if name in arrays)
            return
