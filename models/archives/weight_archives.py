"""Weights as an archive: whole numbers of 8 or 12 bits, a scale a row, what is no matrix as it is.

12 bits are for weights that come home: an export to int8 rounds them far more coarsely than that. 8 are for
a start that is trained further. A checkpoint loses its optimisers' state, and keeps its kind, shape and corpora.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from caesura.models.archives.columns import read_columns, write_columns

BITS = (8, 12)
_KEPT = ("kind", "config", "corpora")
_ABOUT = "about"  # the member that is no tensor


def write_weights(path: Path, source: Path, *, bits: int) -> None:
    """Write the weights of a checkpoint (.pt) or of a start (.safetensors). bits: one of ``BITS``."""
    weights, about = _read(source)
    columns: dict[str, NDArray[Any]] = {_ABOUT: np.frombuffer(msgspec.json.encode(about), dtype=np.uint8)}
    for name, weight in weights.items():
        values = weight.float().numpy()
        columns |= {f"{part}:{name}": column for part, column in _parts(values, bits).items()}
    write_columns(path, columns, zipfile.ZIP_DEFLATED)


def weights_from(path: Path, to: Path) -> None:
    """Write an archive's weights as the kind of file that ``to`` ends like. ValueError where it is no such archive."""
    columns = dict(read_columns(path))
    if _ABOUT not in columns:
        raise ValueError(f"{path} is no archive of weights")
    about = msgspec.json.decode(columns.pop(_ABOUT).tobytes())
    names = dict.fromkeys(key.partition(":")[2] for key in columns)
    weights = {name: torch.from_numpy(_joined(columns, name)) for name in names}
    to.parent.mkdir(parents=True, exist_ok=True)
    if to.suffix == ".safetensors":
        save_file(weights, to)
        return
    if "kind" not in about:
        raise ValueError(f"{path} holds a start without a shape: unpack it as .safetensors")
    about["config"] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in about["config"].items()
    }
    torch.save(about | {"network": weights}, to)


def _read(source: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    if source.suffix == ".safetensors":
        return load_file(source), {}
    state = torch.load(source, weights_only=True, map_location="cpu")
    return state["network"], {name: state[name] for name in _KEPT if name in state}


def _parts(values: NDArray[np.float32], bits: int) -> dict[str, NDArray[Any]]:
    """Return the columns of one tensor: as it is; or scales, high bits, and what of 12 bits is low, two in a byte."""
    if values.ndim < 2:
        return {"plain": values}
    most = 2 ** (bits - 1) - 1
    scales = np.abs(values).max(axis=-1, keepdims=True) / most
    scales[scales == 0] = 1
    numbers = np.rint(values / scales).astype(np.int16)
    if bits == BITS[0]:
        return {"scales": scales, "high": numbers.astype(np.int8)}
    low = (numbers & 15).astype(np.uint8).ravel()
    low = np.pad(low, (0, len(low) % 2))
    return {"scales": scales, "high": (numbers >> 4).astype(np.int8), "low": low[::2] | low[1::2] << 4}


def _joined(columns: dict[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    """Return a tensor of its columns."""
    if (plain := columns.get(f"plain:{name}")) is not None:
        return plain
    numbers = columns[f"high:{name}"].astype(np.int16)
    if (packed := columns.get(f"low:{name}")) is not None:
        low = np.stack([packed & 15, packed >> 4], axis=-1).ravel()[: numbers.size]
        numbers = numbers * 16 + low.reshape(numbers.shape)
    weights: NDArray[np.float32] = numbers * columns[f"scales:{name}"]
    return weights
