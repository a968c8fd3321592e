"""Detects int8 weights that overflow in ONNX Runtime on x86 processors without VNNI.

Such processors add two products of bytes in 16 bits. The sum holds 255 x 64 twice, so larger int8 weights give wrong
results. The streaming graphs store such weights unsigned (``row_graphs``), which is right on every processor and costs
a third more. A network that runs over whole buffers uses the file's own graph, so Caesura can only warn.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from caesura.worker.inference.network.graph_file import Array, GraphWriter, Shaped, integer_matmul_inputs, stored_arrays
from caesura.worker.inference.network.inference_session import open_graph

LARGEST_EXACT = 64
"""The largest magnitude of int8 weights that every processor multiplies correctly."""
ZERO_AT = np.uint8(128)
_DEPTH, _COLUMNS = 64, 16


@cache
def saturates() -> bool:
    """Tell whether this processor saturates: run a product in ONNX Runtime whose partial sums exceed 16 bits."""
    graph = GraphWriter()
    weights = graph.constant("weights", np.full((_DEPTH, _COLUMNS), 127, dtype=np.int8))
    graph.add("MatMulInteger", "rows", weights, output="sums")
    given: dict[str, Shaped] = {"rows": (np.uint8, ("N", _DEPTH))}
    model = graph.model(given, {"sums": (np.int32, ("N", _COLUMNS))})
    rows = np.full((1, _DEPTH), 255, dtype=np.uint8)
    (sums,) = open_graph("none", model, 1).run(["sums"], {"rows": rows})
    return bool((sums != 255 * 127 * _DEPTH).any())


def saturated_weights(path: Path) -> str | None:
    """Return the name of an ONNX file's first weights that are too large, if this processor saturates.

    None also if the weights cannot be read from the file.
    """
    if not saturates():
        return None
    try:
        arrays, names = stored_arrays(path), integer_matmul_inputs(path)
    except ValueError:
        return None
    return next((name for name in names if name in arrays and too_large(arrays[name])), None)


def too_large(weights: Array) -> bool:
    """Tell whether int8 weights exceed ``LARGEST_EXACT``; False for other types."""
    return weights.dtype == np.int8 and bool((np.abs(weights.astype(np.int16)) > LARGEST_EXACT).any())


def unsigned(weights: Array) -> Array:
    """Return int8 weights as uint8, with zero at ``ZERO_AT``."""
    return (weights.astype(np.int16) + np.int16(ZERO_AT)).astype(np.uint8)
