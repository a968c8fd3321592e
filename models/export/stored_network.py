"""A model folder back to the network that it was exported from: the inverse of ``export`` and ``onnx_graph``.

The shipped folder is all that a user has, and it is where a tune begins. An int8 weight becomes its whole number times
its scale, so exporting what comes out stores the same whole numbers: every column and every embedding row has a weight
at the limit of its range, and with it the scale is found again. Weights that were never quantised (norms, biases,
positions, the heads) are there as they were.

A network that is to be trained further must not begin exactly on whole numbers: most of what it learns moves a weight
by less than half a step, and all of that would be rounded away again at the export. So a start for training lies, by a
seed, anywhere within half a step of the stored number, as the weights did that were rounded to it.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.dequantisation import initialisers
from caesura.schemas.model_manifest import ModelManifest
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import StoredModel
from caesura.worker.inference.network.row_graphs import Arrays

_NETWORK = "ct_transformer"


def read_network(stored: StoredModel, *, off_grid_seed: int | None = None) -> CTTransformer:
    """Return the network of a stored model in fp32, ready to label; FatalError where its weights are another form's.

    off_grid_seed: draws the place of each int8 weight within half a step of its whole number; None: none is moved.
    """
    manifest = stored.manifest
    if manifest.network != _NETWORK:
        raise FatalError(f"model {manifest.name} is a {manifest.network}, not a {_NETWORK}")
    arrays: Arrays = initialisers(stored.weights)
    if off_grid_seed is not None:
        arrays = _off_grid(arrays, off_grid_seed)
    try:
        network = CTTransformer(_config(manifest, arrays))
        network.load_state_dict(_state(network, arrays))
    except (KeyError, RuntimeError) as error:
        raise FatalError(f"{stored.weights} was not written by models/export/folder.py: {error}") from error
    return network.eval()


def _config(manifest: ModelManifest, arrays: Arrays) -> CTConfig:
    pieces, width = (arrays["embedding.int8"] if "embedding.int8" in arrays else arrays["embedding.weight"]).shape
    learned = {"max_positions": len(arrays["positions.table"])} if manifest.positions == "learned" else {}
    return CTConfig(
        vocabulary_size=pieces,
        width=width,
        heads=_heads(arrays, width),
        inner_width=len(arrays["layers.0.inner.bias"]),
        look_ahead=manifest.look_ahead,
        look_back=manifest.look_back,
        positions=manifest.positions,
        punctuation_classes=len(manifest.punctuation),
        disfluency_classes=len(manifest.disfluency),
        casing_classes=len(manifest.casing),
        closing=manifest.closing,
        **learned,
    )


def _heads(arrays: Arrays, width: int) -> int:
    """Return how many heads there are: the graph says it only in the shape (B, S, heads, width / heads) it cuts by."""
    for array in arrays.values():
        if array.shape == (4,) and array[2] * array[3] == width:
            return int(array[2])
    raise KeyError("the shape that heads are cut by")


def _state(network: CTTransformer, arrays: Arrays) -> dict[str, Tensor]:
    """Return a value for each tensor of ``network``; linear weights stand transposed in the graph."""
    transposed = {f"{name}.weight" for name, module in network.named_modules() if isinstance(module, nn.Linear)}
    state: dict[str, Tensor] = {}
    for name in network.state_dict():
        values = _values(arrays, name)
        state[name] = torch.from_numpy(np.ascontiguousarray(values.T if name in transposed else values))
    return state


def _off_grid(arrays: Arrays, seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    return {
        name: array.astype(np.float32) + rng.uniform(-0.5, 0.5, array.shape) if name.endswith(".int8") else array
        for name, array in arrays.items()
    }


def _values(arrays: Arrays, name: str) -> NDArray[np.float32]:
    whole = name.removesuffix(".weight") + ".int8"
    if whole not in arrays:
        return arrays[name].astype(np.float32)
    return arrays[whole].astype(np.float32) * arrays[whole.removesuffix("int8") + "scale"].astype(np.float32)
