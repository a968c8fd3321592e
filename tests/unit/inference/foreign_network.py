"""A small CT-Transformer in a model folder, written without what exports one: a builder for the engine's tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from caesura.worker.inference.network.graph_file import Array, GraphWriter
from tests.unit.inference.model_files import model

WIDTH, LAYERS, _INNER = 64, 2, 128
_PIECES = 4


def arrays(*, largest: int = 63, seed: int = 1) -> dict[str, Array]:
    """Return the arrays of a network in int8 with two heads. largest: magnitude of its weights."""
    rng = np.random.default_rng(seed)

    def floats(*shape: int) -> Array:
        return rng.standard_normal(shape, dtype=np.float32)

    stored: dict[str, Array] = {
        "embedding.int8": rng.integers(-127, 128, (_PIECES, WIDTH)).astype(np.int8),
        "embedding.scale": np.full((_PIECES, 1), 0.01, np.float32),
        "positions.table": floats(8, WIDTH),
        "integers_0_0_2_32": np.array([0, 0, 2, 32], np.int64),
    }
    products = {
        "qkv": (WIDTH, 3 * WIDTH),
        "attended": (WIDTH, WIDTH),
        "inner": (WIDTH, _INNER),
        "outer": (_INNER, WIDTH),
    }
    for k in range(LAYERS):
        for name, shape in products.items():
            weights = rng.integers(-largest, largest + 1, shape).astype(np.int8)
            weights[0, 0] = largest
            stored[f"layers.{k}.{name}.int8"] = weights
            stored[f"layers.{k}.{name}.scale"] = np.full(shape[1], 0.1 / largest, np.float32)
            stored[f"layers.{k}.{name}.bias"] = floats(shape[1])
    norms = [f"layers.{k}.{norm}_norm" for k in range(LAYERS) for norm in ("attention", "output")]
    for norm in ("embedding_norm", *norms):
        stored |= {f"{norm}.weight": np.ones(WIDTH, np.float32), f"{norm}.bias": floats(WIDTH)}
    for head, classes in (("punctuation", 4), ("disfluency", 5)):
        stored |= {f"{head}.weight": floats(WIDTH, classes), f"{head}.bias": floats(classes)}
    return stored


def network(folder: Path, stored: dict[str, Array], **changes: Any) -> Path:  # noqa: ANN401 - a field may be anything
    """Write a model folder of the network; return the folder. changes: of the manifest."""
    graph = GraphWriter()
    for name, array in stored.items():
        graph.constant(name, array)
    return model(folder, network_file=graph.model({}, {}), **({"positions": "learned"} | changes))
