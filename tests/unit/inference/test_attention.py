"""Attention, compiled and NumPy's, beside a plain one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.inference.attention.attention import RowAttention, VisibleRange
from caesura.worker.inference.attention.compiled_attention import COMPILED, CompiledAttention
from caesura.worker.inference.kv_cache.kv_cache import KVCache, Rows
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit
from tests.harness.parts.lookup import in_ci
from tests.unit.inference.attentions import KINDS, LAYERS, OfKind, all_before, attentions, drawn, plain

needs_compiled = pytest.mark.skipif(not COMPILED, reason="nothing was compiled at installation")


def kept_by(attention: RowAttention, key_value: Sequence[Rows], k: int = 1) -> list[KVCache]:
    """Return sessions that keep those keys and values (rows, 2 D) in layer k; a pass of all of them is begun."""
    sessions = []
    for own in key_value:
        kept = KVCache(LAYERS, own.shape[1] // 2, attention.room())
        kept.begin()
        kept.read(tuple("w" * (len(own) - 1)), lambda _: [1])
        sessions.append(kept)
    attention.begin(sessions)
    attention.keep(k, np.concatenate(key_value), np.array([(0, len(own)) for own in key_value], dtype=np.int32))
    return sessions


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 210), min_size=1, max_size=5),
    shape=st.sampled_from([(12, 32), (8, 64), (2, 16), (3, 48)]),
    data=st.data(),
)
def test_attention_is_bit_identical_alone_and_in_a_batch(
    seed: int, lengths: list[int], shape: tuple[int, int], data: st.DataObject
) -> None:
    (heads, head_width), rng = shape, np.random.default_rng(seed)
    width = heads * head_width
    key_value = [drawn(rng, length, 2 * width) for length in lengths]
    visible_range = [
        sorted(data.draw(st.lists(st.integers(1, length), max_size=9), label="sight")) for length in lengths
    ]
    back = data.draw(st.integers(1, 210), label="look-back")
    since = [[max(1, count - back) for count in sees] for sees in visible_range]
    asked = [drawn(rng, len(sees), 2 * width) for sees in visible_range]
    for attention in attentions(heads, width):
        sessions = kept_by(attention, key_value)
        together = attention.attend(1, np.concatenate(asked), VisibleRange.of(visible_range, since))
        place = 0
        for kept, own, sees, firsts, rows in zip(sessions, key_value, visible_range, since, asked, strict=True):
            mine = together[place : place + len(sees)]
            place += len(sees)
            np.testing.assert_allclose(mine, plain(rows, own, sees, heads, firsts), atol=2e-5)
            attention.begin([kept])
            for row, (first, count) in enumerate(zip(firsts, sees, strict=True)):
                alone = attention.attend(1, rows[row : row + 1], VisibleRange.of([[count]], [[first]]))
                np.testing.assert_array_equal(alone[0], mine[row])
        if back >= max(lengths):
            attention.begin(sessions)
            np.testing.assert_array_equal(
                attention.attend(1, np.concatenate(asked), all_before(visible_range)), together
            )


@needs_compiled
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_kept_in_their_layer_and_their_sessions_blocks_alone(kind: str) -> None:
    attention, key_value = OfKind(kind, 2, 32), drawn(np.random.default_rng(4), 47, 64)
    others = kept_by(attention, [key_value[:40]])
    before = attention.attend(1, key_value[:1], all_before([[40]]))
    sessions = kept_by(attention, [key_value, key_value[:7]], k=0)
    for layer in (0, 2):
        kept_by(attention, [key_value[:20]], k=layer)
    attention.begin(others)
    np.testing.assert_array_equal(attention.attend(1, key_value[:1], all_before([[40]])), before)
    attention.begin(sessions)
    alone = attention.attend(0, key_value[:2], all_before([[47], [7]]))
    np.testing.assert_allclose(alone[:1], plain(key_value[:1], key_value, [47], 2), atol=2e-5)
    np.testing.assert_allclose(alone[1:], plain(key_value[1:2], key_value[:7], [7], 2), atol=2e-5)


@needs_compiled
@pytest.mark.parametrize("kind", KINDS)
def test_stale_rows_of_a_reused_block_are_never_read(kind: str) -> None:
    """Not even where it is no number: a session that failed leaves what it failed of."""
    attention, key_value = OfKind(kind, 2, 32), drawn(np.random.default_rng(4), 21, 64)
    stays = kept_by(attention, [key_value[:3]])
    for slab in attention._pool.slabs:
        slab[:] = np.nan
    (kept,) = kept_by(attention, [key_value])
    context = attention.attend(1, key_value[:3], all_before([[1, 20, 21]]))
    np.testing.assert_allclose(context, plain(key_value[:3], key_value, [1, 20, 21], 2), atol=2e-5)
    assert kept.room is not stays[0].room


@needs_compiled
def test_scores_far_apart_share_out_to_the_highest_alone() -> None:
    key_value, asked = np.zeros((20, 64), dtype=np.float32), np.ones((1, 64), dtype=np.float32)
    key_value[:, :32], key_value[7, :32], key_value[:, 32:] = -60.0, 60.0, np.arange(20)[:, None]
    attention = CompiledAttention(LAYERS, 2, 16, MemoryLimit(0))
    _kept = kept_by(attention, [key_value])
    np.testing.assert_array_equal(attention.attend(1, asked, all_before([[20]])), np.full((1, 32), 7.0))


@needs_compiled
@pytest.mark.parametrize("kind", KINDS)
def test_keys_outside_the_visible_range_have_no_weight(kind: str) -> None:
    key_value, asked = np.zeros((20, 64), dtype=np.float32), np.full((5, 64), 1e32, dtype=np.float32)
    key_value[:3, :32], key_value[:, 32:] = -60_000.0, np.arange(20)[:, None]
    attention = OfKind(kind, 2, 32)
    _kept = kept_by(attention, [key_value])
    context = attention.attend(1, asked, all_before([[3, 3, 3, 3, 20]]))
    np.testing.assert_array_equal(context[:4], np.full((4, 32), 1.0))
    np.testing.assert_allclose(context[4], np.arange(3, 20).mean(), rtol=1e-6)


@needs_compiled
@pytest.mark.parametrize("kind", KINDS)
def test_a_rows_result_does_not_depend_on_its_group_by_a_zeros_sign(kind: str) -> None:
    key_value, asked = np.zeros((16, 32), dtype=np.float32), np.zeros((2, 32), dtype=np.float32)
    key_value[1, 0], key_value[1, 16], asked[:, 16] = -86.875, -6e-8, 1.0
    attention = OfKind(kind, 1, 16)
    _kept = kept_by(attention, [key_value])
    alone = attention.attend(1, asked[:1], all_before([[2]]))
    assert attention.attend(1, asked, all_before([[2, 3]]))[0].tobytes() == alone[0].tobytes()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 65_520.0, -65_520.0, 3e38])
@pytest.mark.parametrize("place", [(0, 0), (7, 20), (19, 31), (0, 32), (7, 52), (19, 63)])
def test_non_finite_half_precision_values_are_refused(number: float, place: tuple[int, int]) -> None:
    """A key with a score of minus infinity has no weight: what is mixed would not tell of it."""
    key_value = np.ones((20, 64), dtype=np.float32)
    for attention in attentions(2, 32):
        key_value[place] = np.copysign(65_519.0, number)
        kept_by(attention, [key_value])
        key_value[place] = number
        with pytest.raises(ArithmeticError, match="not finite in half precision"):
            kept_by(attention, [key_value])


@needs_compiled
@pytest.mark.parametrize("kind", KINDS)
def test_an_overflowing_score_gives_no_finite_output(kind: str) -> None:
    key_value, asked = np.ones((20, 64), dtype=np.float32), np.ones((1, 64), dtype=np.float32)
    key_value[7, 20], asked[0, 52] = 60_000.0, 1e37
    attention = OfKind(kind, 2, 32)
    _kept = kept_by(attention, [key_value])
    assert not np.isfinite(attention.attend(1, asked, all_before([[20]]))).all()


def test_where_there_is_a_compiler_it_was_compiled() -> None:
    """In CI there is one that can. Elsewhere GCC 12 is asked for, and a processor that it compiles for."""
    compiler = shutil.which("gcc")
    if not in_ci() and (compiler is None or _major_version(compiler) < 12):
        pytest.skip("no compiler is here that can")
    assert COMPILED, "python -m pip install -v --no-build-isolation --no-deps --editable . says why"


def _major_version(compiler: str) -> int:
    told = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True, timeout=10)
    return int(told.stdout.partition(".")[0])
