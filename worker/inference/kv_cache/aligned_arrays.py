"""Arrays that begin where a cache line does: a vector of 64 bytes lies in one line then, not in two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from caesura.worker.inference.kv_cache.kv_cache import Rows

_LINE = 64
_FEW_ROWS = 64
"""Of fewer than these, to find a line takes longer than it saves."""


def aligned_bytes(size: int) -> NDArray[np.uint8]:
    """Return so many bytes, whatever was there."""
    room = np.empty(size + _LINE, dtype=np.uint8)
    first = -room.__array_interface__["data"][0] % _LINE
    return room[first : first + size]


def aligned_rows(rows: int, width: int) -> Rows:
    """Return so many rows (N, W) of floats, whatever was there; few rows begin anywhere."""
    if rows < _FEW_ROWS:
        return np.empty((rows, width), dtype=np.float32)
    return aligned_bytes(rows * width * 4).view(np.float32).reshape(rows, width)
