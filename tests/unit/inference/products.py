"""What a compiled product takes, drawn for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.network.int8_matmul import KINDS, _most, _packed

needs_processor = pytest.mark.skipif(not KINDS, reason="this processor has neither AVX2 nor AVX-512 with VNNI")


def given_to(follows: str, rng: np.random.Generator, rows: int, depth: int, columns: int) -> list[Any]:
    """Return what a product of that kind takes, with what comes out as the sixth."""
    floats = [rng.standard_normal(columns, dtype=np.float32) for _ in range(4)]
    weights = rng.integers(-64, 64, (depth, columns)).astype(np.int8)
    taken = [drawn(rng, rows, depth), _packed(weights), _most(weights), np.abs(floats[0]) / 100, floats[1]]
    taken += [drawn(rng, rows, columns)]
    return taken + ([drawn(rng, rows, columns), *floats[2:]] if follows == "normed" else [])


def drawn(rng: np.random.Generator, rows: int, width: int) -> Rows:
    """Return rows that lie apart, of sizes that differ by far."""
    sizes = np.exp(rng.standard_normal((rows, 1), dtype=np.float32) * 2)
    wide: Rows = rng.standard_normal((rows, 2 * width), dtype=np.float32) * sizes
    return wide[:, width:]
