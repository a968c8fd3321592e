"""Compiled products beside plain ones, and beside the graphs that stand in their place elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from math import erf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.inference.network.graph_file import stored_arrays
from caesura.worker.inference.network.inference_session import open_graph
from caesura.worker.inference.network.int8_matmul import (
    KINDS,
    CompiledEntrance,
    CompiledExit,
    CompiledStep,
    _most,
    _packed,
    multiplies,
)
from caesura.worker.inference.network.row_graphs import Arrays, cut_into_rows
from tests.harness.places import ROOT, SHIPPED
from tests.harness.shipped_models import ENGLISH, one_model

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


int8_kernels = pytest.importorskip(
    "caesura.worker.inference.native.int8_kernels", reason="nothing was compiled at installation", exc_type=ImportError
)
every_kind = pytest.mark.parametrize("kind", KINDS or ["none"])

MODELS = [stored for stored in read_models_folder(SHIPPED, active=()) if stored.manifest.network == "ct_transformer"]


def plain(follows: str, taken: list[Any]) -> Rows:
    """Compute as it is written in books, in double precision behind the whole numbers."""
    rows, packed, _, scales, bias = taken[:5]
    scale = np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.float32(1e-12)) / np.float32(127)
    parts = packed.astype(int).reshape(*packed.shape[:4], 16, 4)  # columns / 32, depth / 64, 2, 16 fours, 16 columns, 4
    weights = parts.transpose(1, 3, 5, 0, 2, 4).reshape(rows.shape[1], len(bias)) - 64
    made: Rows = np.rint(rows / scale).astype(int) @ weights * scales.astype(float) * scale + bias
    if follows == "gelu":
        made = made * np.vectorize(lambda x: (1 + erf(x / 2**0.5)) / 2, otypes=[float])(made)
    if follows == "normed":
        summed, gain, shift = made + taken[6], taken[7], taken[8]
        spread = np.sqrt(summed.var(axis=1, keepdims=True) + 1e-12)
        made = (summed - summed.mean(axis=1, keepdims=True)) / spread * gain + shift
    return made


@pytest.fixture(autouse=True)
def best_kind_afterwards() -> Iterator[None]:
    yield
    if KINDS:
        int8_kernels.choose(KINDS[0])


@needs_processor
@every_kind
@settings(max_examples=30)
@given(
    follows=st.sampled_from(["plain", "rounded", "gelu", "normed"]),
    seed=st.integers(0, 10_000),
    rows=st.integers(0, 14) | st.integers(15, 70),
    depth=st.integers(1, 5),
    columns=st.integers(1, 4),
)
def test_int8_matmul_is_bit_identical_alone_and_in_a_batch(
    kind: str, follows: str, seed: int, rows: int, depth: int, columns: int
) -> None:
    int8_kernels.choose(kind)
    taken = given_to(follows, np.random.default_rng(seed), rows, 64 * depth, 64 * columns)
    getattr(int8_kernels, follows)(*taken)
    expected = plain(follows, taken)
    largest = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(taken[5], expected, atol=2e-5 * largest)
    for row in range(rows):
        alone = list(taken)
        for place in (0, 5, 6) if follows == "normed" else (0, 5):
            alone[place] = taken[place][row : row + 1].copy()
        getattr(int8_kernels, follows)(*alone)
        np.testing.assert_array_equal(alone[5][0], taken[5][row])


@needs_processor
@settings(max_examples=40)
@given(
    follows=st.sampled_from(["plain", "rounded", "gelu", "normed"]),
    seed=st.integers(0, 10_000),
    rows=st.integers(0, 100),
    depth=st.integers(1, 24),
)
def test_every_kind_of_processor_computes_the_same(follows: str, seed: int, rows: int, depth: int) -> None:
    """Tiles and wide vectors to the last bit; AVX2 divides in GELU, and adds up a norm in another order."""
    taken, made = given_to(follows, np.random.default_rng(seed), rows, 64 * depth, 128), {}
    for kind in KINDS:
        int8_kernels.choose(kind)
        getattr(int8_kernels, follows)(*taken)
        made[kind] = taken[5].copy()
        taken[5][:] = np.nan
    for kind, other in made.items():
        if kind == "avx2":
            np.testing.assert_allclose(other, made[KINDS[0]], atol=1e-5 * np.abs(other).max(initial=1.0))
        else:
            np.testing.assert_array_equal(other, made[KINDS[0]])


@needs_processor
@every_kind
@pytest.mark.parametrize("follows", ["plain", "rounded", "gelu"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 64), (40, 128), (200, 256)])
def test_the_last_columns_can_be_written_to_a_second_array(kind: str, follows: str, rows: int, columns: int) -> None:
    int8_kernels.choose(kind)
    rng = np.random.default_rng(rows)
    taken = given_to(follows, rng, rows, 128, 320)
    getattr(int8_kernels, follows)(*taken)
    whole, out, further = taken[5], drawn(rng, rows, columns), drawn(rng, rows, 320 - columns)
    getattr(int8_kernels, follows)(*taken[:5], out, further)
    np.testing.assert_array_equal(np.hstack([out, further]), whole)


@needs_processor
@every_kind
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 14),
    depth=st.integers(1, 4),
    number=st.integers(0, 127),
    weight=st.integers(0, 64),
    unlike=st.sampled_from([0, 3, 127]),
)
def test_int32_sums_are_exact_at_any_size(
    kind: str, seed: int, rows: int, depth: int, number: int, weight: int, unlike: int
) -> None:
    """AVX2 adds up in 16 bits where that is known to do: nothing may pass over, whatever the signs."""
    int8_kernels.choose(kind)
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], 64 * depth)
    numbers = np.clip(signs * number + rng.integers(-unlike, unlike + 1, (rows, 64 * depth)), -127, 127)
    weights = np.clip(signs[:, None] * weight + rng.integers(-unlike, unlike + 1, (64 * depth, 64)), -64, 63)
    numbers[:, 0] = 127  # the scale is 1
    whole, one = weights.astype(np.int8), np.ones(64, np.float32)
    made = np.empty((rows, 64), np.float32)
    int8_kernels.plain(numbers.astype(np.float32), _packed(whole), _most(whole), one, 0 * one, made)
    np.testing.assert_array_equal(made, numbers @ weights)


@needs_processor
@every_kind
def test_gelu_uses_the_error_function(kind: str) -> None:
    """Its share of the normal distribution is fitted: 2e-7 off at most, and nothing, or all, far out."""
    int8_kernels.choose(kind)
    nothing, one, bias = np.zeros((1, 64), np.float32), np.ones(64, np.float32), np.empty(64, np.float32)
    whole = np.zeros((64, 64), np.int8)
    packed, most, made = _packed(whole), _most(whole), np.empty((1, 64), np.float32)
    far = np.geomspace(8, 1e30, 64, dtype=np.float32)
    for x in [*np.linspace(-8, 8, 6400, dtype=np.float32).reshape(-1, 64), far, -far]:
        bias[:] = x
        int8_kernels.gelu(nothing, packed, most, one, bias, made)
        expected = [float(value) * (1 + erf(float(value) / 2**0.5)) / 2 for value in x]
        assert (np.abs(made[0] - expected) <= 2e-7 * np.abs(x)).all()


@needs_processor
@every_kind
@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), size=st.integers(-140, 124))
def test_a_number_is_rounded_as_a_division_rounds_it(kind: str, seed: int, size: int) -> None:
    """Multiplied by one, a row comes back as its whole numbers times its scale: the stored graph divides."""
    int8_kernels.choose(kind)
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((40, 64), dtype=np.float32) * np.float32(2.0**size)
    top = np.abs(rows).max(axis=1, keepdims=True)
    scale = np.maximum(top, np.float32(1e-12)) / np.float32(127)
    between = (rng.integers(-127, 127, (20, 64)) + np.float32(0.5)).astype(np.float32) * scale[20:]
    rows[20:] = np.clip(np.nextafter(between, rng.choice([-np.inf, 0, np.inf], between.shape)), -top[20:], top[20:])
    rows[20:, :1] = top[20:]
    one, nothing = np.ones(64, np.float32), np.zeros(64, np.float32)
    made = np.empty((40, 64), np.float32)
    eye = np.eye(64, dtype=np.int8)
    int8_kernels.plain(rows, _packed(eye), _most(eye), one, nothing, made)
    np.testing.assert_array_equal(made, np.rint(rows / scale) * scale)


@needs_processor
@every_kind
@pytest.mark.parametrize("follows", ["plain", "rounded", "gelu", "normed"])
@pytest.mark.parametrize("wrong", [np.nan, -np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_changes_no_other_row(kind: str, follows: str, wrong: float) -> None:
    """The check behind attention and that of the scores must see it: an int8 product could make it a number."""
    int8_kernels.choose(kind)
    taken = given_to(follows, np.random.default_rng(3), 5, 128, 64)
    getattr(int8_kernels, follows)(*taken)
    before = taken[5].copy()
    taken[0][2, 77] = wrong
    getattr(int8_kernels, follows)(*taken)
    assert not np.isfinite(taken[5][2]).any()
    np.testing.assert_array_equal(np.delete(taken[5], 2, axis=0), np.delete(before, 2, axis=0))


@needs_processor
@pytest.mark.parametrize(
    "changed",
    [
        {"layers.0.inner.int8": np.zeros((64, 256), np.uint8)},
        {"layers.0.inner.int8": np.zeros((64, 250), np.int8)},
        {"layers.0.inner.int8": np.zeros((64, 0), np.int8)},
        {"layers.0.inner.int8": np.full((64, 256), 64, np.int8)},
        {"layers.0.inner.int8": np.full((64, 256), -65, np.int8)},
        {"layers.0.inner.scale": np.float32(1)},
        {"layers.0.inner.bias": np.zeros(64, np.float32)},
        {"layers.0.inner.int8": np.zeros((64, 2**16 + 64), np.int8)},
    ],
)
def test_unsupported_products_are_left_to_onnx_runtime(changed: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {}
    for name, columns in (("qkv", 192), ("attended", 64), ("inner", 256), ("outer", 64)):
        depth = 256 if name == "outer" else 64
        arrays[f"layers.0.{name}.int8"] = np.zeros((depth, columns), np.int8)
        arrays |= {f"layers.0.{name}.{part}": np.zeros(columns, np.float32) for part in ("scale", "bias")}
    assert multiplies(arrays, 1)
    assert not multiplies(arrays | changed, 1)
    del arrays["layers.0.outer.int8"]
    assert not multiplies(arrays, 1)


@needs_processor
@pytest.mark.parametrize("stored", MODELS, ids=lambda stored: stored.manifest.name)
def test_a_shipped_network_computes_what_its_graphs_compute(stored: Any) -> None:  # noqa: ANN401
    arrays, layers = stored_arrays(stored.weights), len(stored.manifest.look_ahead)
    graphs, rng = cut_into_rows(arrays, layers=layers, heads=["punctuation"]), np.random.default_rng(1)
    assert multiplies(arrays, layers)
    given_rows = {name: drawn(rng, 40, width) for name, width in _widths(arrays).items()}
    exit_ = CompiledExit(arrays, layers - 1, open_graph("none", graphs.heads, 1))
    pairs: list[tuple[list[str], bytes, Any]] = [(["punctuation"], graphs.exit, exit_)]
    pairs += [
        (["query", "key_value"], graphs.steps[k], CompiledStep(arrays, k, graphs.attention_heads))
        for k in (0, layers - 2)
    ]
    for names, graph, ours in pairs:
        theirs = open_graph("none", graph, 1).run(names, given_rows)
        for mine, other in zip(ours.run(names, given_rows), theirs, strict=True):
            # A number between two whole ones may become either: one of 127 steps of one factor.
            assert np.abs(mine - other).max() < 0.02 * np.abs(other).max()
            assert np.median(np.abs(mine - other)) < 1e-4


@needs_processor
@every_kind
@pytest.mark.parametrize("stored", MODELS, ids=lambda stored: stored.manifest.name)
def test_a_shipped_network_begins_with_the_same_bits_as_by_its_graph(stored: Any, kind: str) -> None:  # noqa: ANN401
    int8_kernels.choose(kind)
    arrays, layers = stored_arrays(stored.weights), len(stored.manifest.look_ahead)
    graphs, rng = cut_into_rows(arrays, layers=layers, heads=[]), np.random.default_rng(1)
    ours = CompiledEntrance(arrays, graphs.attention_heads, open_graph("none", graphs.embedding, 1))
    theirs = open_graph("none", graphs.entrance, 1)
    for rows in (0, 1, 200):
        read: dict[str, Any] = {"pieces": rng.integers(0, 1000, rows), "positions": drawn(rng, rows, graphs.width)}
        names = ["query", "key_value"]
        for mine, other in zip(ours.run(names, read), theirs.run(names, read), strict=True):
            np.testing.assert_array_equal(mine, other)


def _widths(arrays: Arrays) -> dict[str, int]:
    width = arrays["embedding_norm.weight"].shape[0]
    return {"context": width, "asked": 2 * width}


@pytest.mark.parametrize(("missing", "told"), [("attention_kernels", "False False"), ("int8_kernels", "True False")])
def test_without_compiled_kernels_numpy_or_onnx_runtime_computes(missing: str, told: str) -> None:
    """In a process of its own, to which the compiled module is not there."""
    script = f"""
import sys
from pathlib import Path
sys.modules["caesura.worker.inference.native.{missing}"] = None
from caesura.worker.adapters.onnx.engine import OnnxEngine
engine = OnnxEngine(Path({str(one_model(ENGLISH))!r}), threads=1)
engine.warm_up()
print(*engine.compiled_kernels(engine.models[0].name))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.returncode) == (f"{told}\n", 0), done.stderr


WRONG: dict[str, dict[int, Any]] = {
    "rows of another depth": {0: np.zeros((2, 128), np.float32)},
    "rows of whole numbers": {0: np.zeros((2, 64), np.int32)},
    "rows in double precision": {0: np.zeros((2, 64))},
    "rows on their side": {0: np.zeros((64, 2), np.float32).T},
    "rows backwards": {0: np.zeros((2, 64), np.float32)[::-1]},
    "one row for all": {0: np.broadcast_to(np.zeros(64, np.float32), (2, 64))},
    "no rows": {0: np.zeros(64, np.float32)},
    "half a vector": {0: np.zeros((2, 32), np.float32), 1: np.zeros((2, 1, 2, 8, 64), np.uint8)},
    "no depth": {0: np.zeros((2, 0), np.float32), 1: np.zeros((2, 0, 2, 16, 64), np.uint8)},
    "weights as they are stored": {1: np.zeros((2, 1, 2, 16, 64), np.int8)},
    "weights of more columns": {1: np.zeros((4, 1, 2, 16, 64), np.uint8)},
    "weights in another order": {1: np.zeros((2, 1, 2, 64, 16), np.uint8)},
    "weights without axes": {1: np.zeros((2, 32, 64), np.uint8)},
    "weights apart": {1: np.zeros((2, 1, 2, 16, 128), np.uint8)[..., ::2]},
    "bounds of other parts": {2: np.zeros(3, np.int32)},
    "bounds of floats": {2: np.zeros(2, np.float32)},
    "a scale for all": {3: np.zeros(1, np.float32)},
    "bias on its side": {4: np.zeros((64, 1), np.float32)},
    "bytes in another order": {4: np.zeros(64, ">f4")},
    "bytes at an odd place": {4: memoryview(bytearray(257))[1:].cast("f", [64])},
    "room for fewer rows": {5: np.zeros((1, 64), np.float32)},
    "room for nothing": {5: None},
    "nothing may be written": {5: memoryview(bytes(512)).cast("f", [2, 64])},
    "fewer rows to add": {6: np.zeros((1, 64), np.float32)},
    "wider rows to add": {6: np.zeros((2, 128), np.float32)},
    "half a gain": {7: np.zeros(32, np.float32)},
    "no shift": {8: None},
}


@needs_processor
@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_and_never_read(wrong: str) -> None:
    taken = given_to("normed", np.random.default_rng(0), 2, 64, 64)
    int8_kernels.normed(*taken)
    for place, array in WRONG[wrong].items():
        taken[place] = array
    with pytest.raises((ValueError, TypeError, BufferError)):
        int8_kernels.normed(*taken)


@needs_processor
@pytest.mark.parametrize(
    "further",
    [np.zeros((1, 64), np.float32), np.zeros((2, 128), np.float32), np.zeros((2, 32), np.float32), None],
    ids=["fewer rows", "more columns", "half a vector", "nothing"],
)
def test_bad_last_columns_are_refused(further: Any) -> None:  # noqa: ANN401
    taken = given_to("plain", np.random.default_rng(0), 2, 64, 128)
    with pytest.raises((ValueError, TypeError, BufferError)):
        int8_kernels.plain(*taken[:5], np.zeros((2, 64), np.float32), further)


def test_too_few_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="as many arrays"):
        int8_kernels.plain()


def test_an_unsupported_kernel_is_refused_by_name() -> None:
    if KINDS:
        assert int8_kernels.kinds() == KINDS
        with pytest.raises(ValueError, match="not of that kind"):
            int8_kernels.choose("abacus")
        return
    with pytest.raises(ValueError, match="not compiled for this kind of processor"):
        int8_kernels.plain(*given_to("plain", np.random.default_rng(0), 1, 64, 64))
