"""A word's position encoding depends on its place alone, not on how long anybody's buffer has ever been."""

from __future__ import annotations

import numpy as np
import pytest

from caesura.worker.inference.network.row_graphs import Arrays
from caesura.worker.inference.network.row_network import _positions


def sinusoidal(width: int) -> Arrays:
    rng = np.random.default_rng(width)
    rate = np.exp(np.arange(0, width, 2) * (-np.log(10_000.0) / width)).astype(np.float32)
    return {
        "positions.rate": np.repeat(rate, 2),
        "positions.even": np.arange(width) % 2 == 0,
        "positions.map": np.asarray(rng.normal(0.0, 0.05, (width, width)), dtype=np.float32),
        "positions.centre": np.zeros(width, dtype=np.float32),
    }


@pytest.mark.parametrize("width", [64, 384])
def test_sinusoidal_ones_are_what_the_stored_graph_computes_piece_by_piece(width: int) -> None:
    arrays = sinusoidal(width)
    encoding = np.concatenate([_positions(arrays)(first) for first in (0, 512)])
    angles = np.arange(1024, dtype=np.float32)[:, None] * arrays["positions.rate"].astype(np.float32)
    whole = np.where(arrays["positions.even"], np.sin(angles), np.cos(angles)) @ arrays["positions.map"]
    assert np.allclose(encoding, whole, atol=1e-4)


def test_learned_ones_end_with_the_last_that_was_learned() -> None:
    table = np.arange(600, dtype=np.float32)[:, None] * np.ones(64, dtype=np.float32)
    encoding = np.concatenate([_positions({"positions.table": table})(first) for first in (0, 512)])
    assert (encoding[:600] == table).all()
    assert (encoding[600:] == table[-1]).all()
