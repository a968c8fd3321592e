"""Attention for tests: every kind that is compiled here, NumPy's, and a plain one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.attention.attention import RowAttention, VisibleRange
from caesura.worker.inference.attention.compiled_attention import COMPILED, CompiledAttention
from caesura.worker.inference.attention.numpy_attention import NumpyAttention
from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from caesura.worker.inference.network.inference_session import open_graph
from caesura.worker.inference.network.row_graphs import _weighing
from tests.harness.places import SHIPPED
from tests.harness.shipped_models import ENGLISH, one_model

if COMPILED:
    from caesura.worker.inference.native import attention_kernels

    KINDS = attention_kernels.kinds()
else:
    KINDS = []
LAYERS = 3


class OfKind(CompiledAttention):
    """Computes as another kind of processor would that this one is, too."""

    def __init__(self, kind: str, heads: int, width: int) -> None:
        super().__init__(LAYERS, heads, width // heads, MemoryLimit(0))
        self._kind = kind

    @override
    def keep(self, k: int, key_value: Rows, places: NDArray[np.int32]) -> None:
        with self._chosen():
            super().keep(k, key_value, places)

    @override
    def attend(self, k: int, query: Rows, visible_range: VisibleRange) -> Rows:
        with self._chosen():
            return super().attend(k, query, visible_range)

    @contextmanager
    def _chosen(self) -> Iterator[None]:
        attention_kernels.choose(self._kind)
        try:
            yield
        finally:
            attention_kernels.choose(KINDS[0])


def attentions(heads: int, width: int) -> list[RowAttention]:
    """Return what is compiled for each kind of processor that this one is, and NumPy's."""
    compiled = [OfKind(kind, heads, width) for kind in KINDS]
    return [*compiled, NumpyAttention(open_graph("none", _weighing(), 1), LAYERS, heads, width)]


def all_before(visible: Sequence[Sequence[int]]) -> VisibleRange:
    """Return the sight of queries that see all keys up to theirs."""
    return VisibleRange.of(visible, [[1] * len(own) for own in visible])


def plain(
    asked: Rows, given: Rows, visible_range: Sequence[int], heads: int, since: Sequence[int] | None = None
) -> Rows:
    """Attend as it is written in books, in double precision, to keys and values that are kept in half."""
    key_value = given.astype(np.float16)
    rows, width = len(asked), key_value.shape[1] // 2
    queries = asked[:, width:].astype(float).reshape(rows, heads, width // heads)
    keys, values = (
        half.astype(float).reshape(len(key_value), heads, width // heads) for half in np.split(key_value, 2, axis=1)
    )
    context = np.empty((rows, width), dtype=np.float32)
    for row, count in enumerate(visible_range):
        looked_at = [0, *range(1 if since is None else since[row], count)]
        scores = np.einsum("hp,nhp->hn", queries[row], keys[looked_at])
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        context[row] = np.einsum("hn,nhp->hp", shares, values[looked_at]).reshape(-1)
    return context


def drawn(rng: np.random.Generator, *shape: int) -> Rows:
    return rng.standard_normal(shape, dtype=np.float32)


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

MODELS = [stored.manifest.name for stored in read_models_folder(SHIPPED)]

WAYS = [COMPILED, False] if COMPILED else [False]
"""Compiled attention where there is one, and NumPy's."""


@cache
def whole_buffers(model: str) -> OnnxEngine:
    return OnnxEngine(one_model(model), threads=1, streams=False)


def streaming(max_kept_bytes: int = 2**29, *, compiled: bool = COMPILED, model: str = ENGLISH) -> OnnxEngine:
    parts = CompiledKernels.ALL if compiled else CompiledKernels.NONE
    return OnnxEngine(one_model(model), threads=1, max_kept_bytes=max_kept_bytes, compiled=parts)


@cache
def used_before(model: str, compiled: bool) -> OnnxEngine:
    """Return an engine that other tests have used, too."""
    return streaming(compiled=compiled, model=model)


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
    model: str | None = None,
) -> LabelRequest:
    """Ask for words of a session. model: None is the engine's first one."""
    return LabelRequest(
        session=session,
        model_id=model or engine.models[0].name,
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
