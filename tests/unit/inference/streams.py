"""A small network of random weights in a model folder, and what streams through it: builders for the engine's tests."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from numpy.typing import NDArray

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.attention.compiled_attention import COMPILED
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from tests.harness.places import SHIPPED

WORDS = (
    *("so", "we", "went", "down", "to", "the", "old", "harbour", "and", "uh", "you", "know", "boats", "were", "all"),
    *("don't", "u.s", "3.5", "café", "antidisestablishmentarianism", "", "x" * 40, "five", "o'clock", "i", "mean"),
)

TOLERANCE = 0.5
"""Two scores that are closer than this may change places between two ways of computing them (docs/engine.md)."""

LARGEST_DIFFERENCE = 0.6
"""What a score may differ by between them: 0.42 is the largest of a million words (``bench.engine_exactness``)."""

NOISE = {"zh-ct-6x768": 2.5}
"""By how much these two bounds are wider for a network that is: both ways are as far from its fp32 (ADR 0019)."""

MODELS = range(len(read_models_folder(SHIPPED)))
"""The numbers of the shipped models in an engine that has them all."""

WAYS = [COMPILED, False] if COMPILED else [False]
"""Compiled attention where there is one, and NumPy's."""


@cache
def whole_buffers() -> OnnxEngine:
    return OnnxEngine(SHIPPED, threads=1, streams=False)


def streaming(max_kept_bytes: int = 2**29, *, compiled: bool = COMPILED) -> OnnxEngine:
    parts = CompiledKernels.ALL if compiled else CompiledKernels.NONE
    return OnnxEngine(SHIPPED, threads=1, max_kept_bytes=max_kept_bytes, compiled=parts)


def some_words(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [rng.choice(WORDS) for _ in range(count)]


def a_request(
    engine: OnnxEngine,
    words: list[str],
    *,
    session: str = "one",
    first: int = 0,
    end: int | None = None,
    model: int = 0,
) -> LabelRequest:
    return LabelRequest(
        session=session,
        model_id=engine.models[model].name,
        buffer_start=0,
        words=tuple(words),
        first=first,
        end=end,
    )


def same_scores(one: list[NDArray[np.float32]], other: list[NDArray[np.float32]], *, model: str = "") -> bool:
    """Tell whether two answers of ``model`` say the same, save where two labels are as good as equal."""
    noise = NOISE.get(model.partition("@")[0], 1.0)
    for mine, yours in zip(one, other, strict=True):
        assert mine.shape == yours.shape
        assert np.abs(mine - yours).max(initial=0.0) < LARGEST_DIFFERENCE * noise
        ranked = np.sort(yours, axis=-1)
        clear = ranked[:, -1] - ranked[:, -2] > TOLERANCE * noise
        if (mine.argmax(axis=-1) != yours.argmax(axis=-1))[clear].any():
            return False
    return True
