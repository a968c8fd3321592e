"""Keeping what is settled changes no score, however the look-ahead is spread and the buffer grows."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

pytest.importorskip("torch")

import torch

from caesura.models.export.parity import encode
from caesura.models.networks.kept_states import KeptStates
from tests.harness.models.networks import LEADING, buffers, tiny_config, tiny_network, tokenizer

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("look_ahead", [(0, 0, 0), (0, 0, 4), (1, 1, 2), (3, 0, 1)])
@pytest.mark.parametrize("look_back", [None, 4])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("seed", range(3))
def test_the_scores_are_those_of_the_whole_buffer(
    look_ahead: tuple[int, ...], look_back: int | None, positions: str, seed: int
) -> None:
    config = tiny_config(look_ahead=look_ahead, positions=positions)
    network = tiny_network(replace(config, look_back=look_back, closing=seed > 0 and any(look_ahead)))
    words, rng, heard = buffers(1, longest=60, seed=seed + 10)[0], random.Random(seed), 0
    kept = KeptStates(network)
    while heard < len(words):
        heard = min(heard + rng.randint(1, 5), len(words))
        encoded = encode([words[:heard]], tokenizer(), LEADING)
        pieces, word_index = torch.from_numpy(encoded[0]), torch.from_numpy(encoded[1])
        with torch.inference_mode():
            expected, scores = network(pieces, word_index), kept.label(pieces, word_index)
        for head in (0, 1):
            torch.testing.assert_close(scores[head], expected[head], atol=1e-4, rtol=1e-4)
