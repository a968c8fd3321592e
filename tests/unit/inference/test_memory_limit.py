"""Memory for rows is that of all models together: what one took and nobody uses is another's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.attention.compiled_attention import COMPILED, CompiledAttention
from caesura.worker.inference.attention.numpy_attention import NumpyAttention
from caesura.worker.inference.kv_cache.kv_blocks import OWN_ROWS, BlockPool, Blocks, _blocks_of
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from caesura.worker.inference.network.streamed_network import StreamedNetwork
from tests.harness.places import SHIPPED
from tests.unit.inference.streams import a_request, some_words

needs_compiled = pytest.mark.skipif(not COMPILED, reason="nothing was compiled at installation")
SLAB_ROWS = 64 * OWN_ROWS


def _filled(pool: BlockPool, slabs: int) -> Blocks:
    own = Blocks(pool)
    own.grow(slabs * SLAB_ROWS)
    return own


def _networks(engine: OnnxEngine) -> Iterator[StreamedNetwork]:
    for network in engine._networks.values():
        assert isinstance(network, StreamedNetwork)
        yield network


def _pools(engine: OnnxEngine) -> Iterator[BlockPool]:
    for network in _networks(engine):
        attention = network._network._attention
        assert isinstance(attention, CompiledAttention)
        yield attention._pool


def _numbers(engine: OnnxEngine, session: str | None) -> list[int]:
    """Return the blocks of a session, or of all of them."""
    kept = engine._cache._kept
    rooms = [rows.room for name, (_, rows, _) in kept.items() if session in (None, name)]
    return [number for room in rooms if isinstance(room, Blocks) for number in room.numbers]


def test_slabs_that_nobody_uses_go_where_another_network_needs_them() -> None:
    bound = MemoryLimit(8 * 64 * BlockPool(1, 1, 16, MemoryLimit(0)).block_bytes)
    one, other = (BlockPool(1, 1, 16, bound) for _ in range(2))
    del (kept := [_filled(one, 8)])[:]
    assert len(one.slabs) == 8, "they stay while nobody needs them"
    kept = [_filled(other, 7)]
    assert (len(one.slabs), len(other.slabs)) == (1, 7)
    kept += [_filled(one, 2), _filled(other, 1)]
    assert (len(one.slabs), len(other.slabs)) == (2, 8), "what is in use stays, whatever the bound says"


def test_a_session_takes_the_first_free_blocks_so_that_the_last_slabs_empty() -> None:
    pool = BlockPool(1, 1, 16, MemoryLimit(0))
    early, late = _filled(pool, 1), _filled(pool, 2)
    had = early.numbers
    del early
    assert _filled(pool, 1).numbers == had
    assert len(late.numbers) == 128


def test_one_block_in_the_last_slab_keeps_none_of_those_before_it() -> None:
    size = 64 * BlockPool(1, 1, 16, MemoryLimit(0)).block_bytes
    one, other = (BlockPool(1, 1, 16, bound) for bound in [MemoryLimit(8 * size)] * 2)
    early, last = _filled(one, 7), _filled(one, 1)
    last.numbers, given = last.numbers[-1:], last.numbers[:-1]
    one.give_back(given)
    del early
    kept = _filled(other, 6)
    assert (one.nbytes, other.nbytes) == (2 * size, 6 * size)
    again = _filled(one, 1)
    assert not {*again.numbers} & {*last.numbers}
    assert len(kept.numbers) == 6 * 64


@needs_compiled
def test_a_session_behind_slabs_that_went_goes_on_with_the_same_scores() -> None:
    engine = OnnxEngine(SHIPPED, threads=1, max_kept_bytes=2**26)
    for name in range(60):
        engine.label([a_request(engine, some_words(60, 1), session=f"{name}", first=50)])
    (pool, *_) = _pools(engine)
    highest = max(_numbers(engine, None))
    (last,) = (name for name in range(60) if highest in _numbers(engine, f"{name}"))
    for name in range(60):
        if name != last:
            engine.forget(f"{name}")
    while pool.shrink():
        pass
    assert pool.nbytes <= 2 * 64 * pool.block_bytes
    (kept,) = engine.score([a_request(engine, some_words(63, 1), session=f"{last}", first=50)])
    (alone,) = engine.score([a_request(engine, some_words(63, 1), session="alone", first=50)])
    assert all((mine == anew).all() for mine, anew in zip(kept, alone, strict=True))


@given(moves=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3 * SLAB_ROWS)), max_size=30))
def test_no_block_that_somebody_has_goes_with_its_slab_and_none_is_given_twice(moves: list[tuple[int, int]]) -> None:
    bound = MemoryLimit(0)
    pools = [BlockPool(1, 1, 16, bound) for _ in range(2)]
    sessions: dict[int, Blocks] = {}
    for name, rows in moves:
        sessions.pop(name, None)
        if rows:
            sessions[name] = Blocks(pools[name % 2])
            sessions[name].grow(rows)
        for number, pool in enumerate(pools):
            taken = [block for one, own in sessions.items() if one % 2 == number for block in own.numbers]
            there = [
                block for place in range(len(pool.slabs)) if place not in pool._holes for block in _blocks_of(place)
            ]
            assert sorted([*taken, *pool._free]) == there
            assert pool.nbytes == len({id(slab) for slab in pool.slabs}) * 64 * pool.block_bytes


@needs_compiled
def test_sessions_of_one_model_after_those_of_another_take_the_memory_that_these_had() -> None:
    engine = OnnxEngine(SHIPPED, threads=1, max_kept_bytes=2**26)
    for model in range(len(engine.models)):
        for number in range(0, 60, 10):
            names = [f"{model}-{name}" for name in range(number, number + 10)]
            engine.label([a_request(engine, some_words(60, 1), session=name, first=50, model=model) for name in names])
        slabs = [pool.nbytes for pool in _pools(engine)]
        assert sum(slabs) <= 2**26 + sum(64 * pool.block_bytes for pool in _pools(engine)), engine.models[model].name
        for name in range(60):
            engine.forget(f"{model}-{name}")


@needs_compiled
def test_rows_that_a_pass_evicts_make_room_for_it_though_the_pass_before_it_was_of_the_same_call() -> None:
    engine = OnnxEngine(SHIPPED, threads=1, max_kept_bytes=2**26, max_pass_rows=600)
    engine.label([a_request(engine, some_words(60, 1), session=f"{name}", first=50) for name in range(40)])
    (pool, *_) = _pools(engine)
    assert pool.nbytes <= 2**26 + 64 * pool.block_bytes


def test_numpys_attention_holds_no_rows_of_sessions_behind_a_pass() -> None:
    engine = OnnxEngine(SHIPPED, threads=1, compiled=CompiledKernels.NONE)
    engine.label([a_request(engine, some_words(20, 1))])
    for network in _networks(engine):
        attention = network._network._attention
        assert isinstance(attention, NumpyAttention)
        assert attention._rooms == []
