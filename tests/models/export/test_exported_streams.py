"""Exported networks in the engine: every kind streams as its full run labels, and a third head is published."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from caesura.models.decoding.labelling_runs import published_words
from caesura.schemas.labels import Casing
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.attention.compiled_attention import COMPILED
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from tests.harness.models.networks import WORDS, exported, tiny_config, tiny_network

pytestmark = pytest.mark.torch

TOLERANCE = 0.25
"""docs/engine.md; in whole numbers a rounding may fall on the other side."""


@pytest.mark.parametrize(("look_ahead", "look_back"), [((0, 1, 2), None), ((0, 1, 2), 5), ((0, 0, 0), 1), ((3,), 20)])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("int8", [True, False])
@pytest.mark.parametrize("compiled", [COMPILED, False] if COMPILED else [False])
def test_a_network_streams_as_its_full_run_labels_past_the_positions_that_it_learnt(
    look_ahead: tuple[int, ...], look_back: int | None, positions: str, int8: bool, tmp_path: Path, *, compiled: bool
) -> None:
    config = replace(
        tiny_config(look_ahead=look_ahead, positions=positions),
        heads=2,  # wide enough for what is compiled
        casing_classes=len(Casing),
        look_back=look_back,
    )
    name = exported(tiny_network(config), tmp_path / "en", int8=int8).name
    streamed = OnnxEngine(tmp_path, threads=1, compiled=CompiledKernels.ALL if compiled else CompiledKernels.NONE)
    whole = OnnxEngine(tmp_path, threads=1, streams=False)
    rng = random.Random(1)
    words = tuple(rng.choice((*WORDS, "abba", "zzz", "", "cab'")) for _ in range(config.max_positions + 30))
    settled = 0
    for size in range(2, len(words), 3):
        request = LabelRequest(session="one", model_id=name, buffer_start=0, words=words[:size], first=settled)
        (found,), (wanted,) = streamed.score([request]), whole.score([request])
        assert len(found) == len(wanted) == 3
        for one, other in zip(found, wanted, strict=True):
            assert np.abs(one - other).max() < (TOLERANCE if int8 else 1e-4)
        settled = max(0, size - sum(look_ahead))
    assert streamed.work.begun_buffers == 1


@pytest.mark.parametrize("streams", [True, False])
def test_what_a_models_third_head_says_is_published_and_a_model_without_one_leaves_words_as_given(
    streams: bool, tmp_path: Path
) -> None:
    network = tiny_network(replace(tiny_config(), casing_classes=len(Casing)))
    with torch.no_grad():
        assert network.casing is not None
        network.casing.weight.zero_()
        network.casing.bias[:] = torch.tensor([0.0, 0, 0, 9])
    exported(network, tmp_path / "three" / "en", int8=True)
    exported(tiny_network(), tmp_path / "two" / "en", int8=True)
    for models, casing in (("three", "all_capitals"), ("two", "as_given")):
        engine = OnnxEngine(tmp_path / models, threads=1, streams=streams)
        (words,) = published_words(engine, [["the", "cat", "saw", "it"] * 6], language="en")
        assert [word.casing for word in words] == [casing] * 24
