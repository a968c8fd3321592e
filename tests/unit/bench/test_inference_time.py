"""What the benchmark of inference times compares: the same buffers, and the same scores where states are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from bench.inference_time import buffers_of, keeping, measure
from tests.harness.models.networks import VOCABULARY, document, exported, tiny_network

pytestmark = pytest.mark.torch


def test_states_are_kept_exactly_as_long_as_a_buffer_goes_on(tmp_path: Path) -> None:
    network = tiny_network()
    exported(network, tmp_path / "en", int8=False)
    buffers = list(buffers_of([document(40).words, document(20, seed=2).words], tmp_path, VOCABULARY))
    label = keeping(network)
    assert 1 < sum(not buffer.goes_on for buffer in buffers) < len(buffers)
    with torch.inference_mode():
        for buffer in buffers:
            expected = network(buffer.pieces, buffer.word_index)
            torch.testing.assert_close(label(buffer)[0], expected[0], atol=1e-4, rtol=1e-4)


def test_every_network_is_timed_against_the_first(tmp_path: Path) -> None:
    exported(tiny_network(), tmp_path / "en", int8=False)
    buffers = list(buffers_of([document(3).words], tmp_path, VOCABULARY))[:2]
    rows = list(measure(buffers, len(VOCABULARY), rounds=1))
    assert [row.network.partition(",")[0] for row in rows] == ["BLSTM"] * 2 + ["Full-Transformer"] + [
        "CT-Transformer"
    ] * 3
    assert rows[0].ratio == 1
    assert all(row.seconds >= 0 for row in rows)
