"""Where ONNX Runtime's products of bytes are wrong: on x86 processors without VNNI two of them are added up in 16 bits.

That holds 255 x 64 twice and no more, so a network whose weights in int8 are larger is computed wrongly there, whoever
exported it. A stream's graphs are cut here and store such weights unsigned (``row_graphs``), which is right everywhere
and a third dearer; a network that runs over whole buffers is the file's own graph, and can only be warned of.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from caesura.worker.inference.network.graph_file import Array, GraphWriter, Shaped, multiplied, stored_arrays
from caesura.worker.inference.network.inference_session import open_graph

__all__ = ["LARGEST_EXACT", "ZERO_AT", "saturated_weights", "saturates", "too_large", "unsigned"]

LARGEST_EXACT = 64
"""The largest magnitude of weights in int8 that is multiplied rightly on every processor."""
ZERO_AT = np.uint8(128)
_DEPTH, _COLUMNS = 64, 16


@cache
def saturates() -> bool:
    """Tell whether this processor's products do: ONNX Runtime is asked for one whose two halves pass over 16 bits."""
    graph = GraphWriter()
    weights = graph.constant("weights", np.full((_DEPTH, _COLUMNS), 127, dtype=np.int8))
    graph.add("MatMulInteger", "rows", weights, output="sums")
    given: dict[str, Shaped] = {"rows": (np.uint8, ("N", _DEPTH))}
    model = graph.model(given, {"sums": (np.int32, ("N", _COLUMNS))})
    rows = np.full((1, _DEPTH), 255, dtype=np.uint8)
    (sums,) = open_graph("none", model, 1).run(["sums"], {"rows": rows})
    return bool((sums != 255 * 127 * _DEPTH).any())


def saturated_weights(path: Path) -> str | None:
    """Return the name of the first weights of an ONNX file that are too large, if this processor's products saturate.

    None, too, where the file holds its weights in a way that is not read here.
    """
    if not saturates():
        return None
    try:
        arrays, names = stored_arrays(path), multiplied(path)
    except ValueError:
        return None
    return next((name for name in names if name in arrays and too_large(arrays[name])), None)


def too_large(weights: Array) -> bool:
    """Tell whether weights are int8, and some larger than is multiplied rightly everywhere."""
    return weights.dtype == np.int8 and bool((np.abs(weights.astype(np.int16)) > LARGEST_EXACT).any())


def unsigned(weights: Array) -> Array:
    """Return weights of int8 as uint8, their zero at ``ZERO_AT``."""
    return (weights.astype(np.int16) + np.int16(ZERO_AT)).astype(np.uint8)
