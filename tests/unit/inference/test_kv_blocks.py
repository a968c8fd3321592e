"""Blocks go from session to session, and no two have the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.attention.attention import RowAttention, VisibleRange
from caesura.worker.inference.attention.compiled_attention import COMPILED, CompiledAttention
from caesura.worker.inference.attention.numpy_attention import NumpyAttention
from caesura.worker.inference.kv_cache.kv_blocks import BLOCK_ROWS, OWN_ROWS, BlockPool, Blocks, _blocks_of
from caesura.worker.inference.kv_cache.kv_cache import KVCache, Rows
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit
from caesura.worker.inference.network.streamed_network import StreamedNetwork
from tests.harness.places import SHIPPED
from tests.harness.shipped_models import ENGLISH, one_model
from tests.unit.inference.attentions import (
    LAYERS,
    MODELS,
    a_request,
    attentions,
    drawn,
    plain,
    some_words,
    streaming,
)

pytestmark = pytest.mark.slow

MOVES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40 * BLOCK_ROWS)), max_size=60)


@given(moves=MOVES)
def test_no_block_is_two_sessions_and_those_that_are_there_stay(moves: list[tuple[int, int]]) -> None:
    pool = BlockPool(2, 1, 16, MemoryLimit(0))
    sessions: dict[int, Blocks] = {}
    for name, rows in moves:
        if rows == 0:
            sessions.pop(name, None)
            continue
        own = sessions.setdefault(name, Blocks(pool))
        before = own.numbers.copy()
        own.grow(rows)
        assert own.numbers[: len(before)] == before
        assert len(own.numbers) == max(len(before), -(-(rows - 1) // OWN_ROWS), 1)
        assert own.nbytes == len(own.numbers) * pool.part(own.numbers[0], 0).nbytes * 2
        taken = [number for one in sessions.values() for number in one.numbers]
        assert len(taken) == len(set(taken))
        assert all(0 <= number < sum(map(len, pool.slabs)) for number in taken)


def test_a_closed_sessions_memory_is_reused() -> None:
    pool = BlockPool(2, 1, 16, MemoryLimit(0))
    one, other = Blocks(pool), Blocks(pool)
    one.grow(40)
    other.grow(1)
    had = set(one.numbers)
    del one
    third = Blocks(pool)
    third.grow(40)
    assert set(third.numbers) == had
    assert not had & set(other.numbers)
    assert len(pool.slabs) == 1


def test_blocks_are_freed_when_unused_and_come_back_for_a_new_buffer() -> None:
    pool = BlockPool(2, 1, 16, MemoryLimit(0))
    own = Blocks(pool)
    own.grow(5 * OWN_ROWS + 1)
    had = own.numbers.copy()
    for row, left in ((1, 5), (OWN_ROWS, 5), (OWN_ROWS + 1, 4), (3 * OWN_ROWS, 3), (9 * OWN_ROWS, 1)):
        own.let_go(row)
        assert own.numbers == had[-left:]
    own.grow(6 * OWN_ROWS + 1)
    assert (own.gone, len(own.numbers)) == (4, 2)
    own.clear()
    own.grow(4 * OWN_ROWS + 1)
    assert (own.gone, len(set(own.numbers))) == (0, 4)


def test_memory_that_cannot_be_returned_is_never_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = BlockPool(2, 1, 16, MemoryLimit(0))
    own = Blocks(pool)
    own.grow(3 * OWN_ROWS + 1)

    def fails(numbers: Sequence[int]) -> None:
        raise MemoryError(numbers)

    monkeypatch.setattr(pool, "give_back", fails)
    with pytest.raises(MemoryError):
        own.let_go(2 * OWN_ROWS + 1)
    monkeypatch.undo()
    del own
    others = [Blocks(pool) for _ in range(9)]
    for one in others:
        one.grow(1)
    taken = [number for one in others for number in one.numbers]
    assert len(set(taken)) == len(taken)


PASSES = st.lists(
    st.dictionaries(st.integers(0, 5), st.tuples(st.integers(0, 3), st.integers(0, 40)), min_size=1, max_size=6),
    max_size=6,
)


@pytest.mark.parametrize("attention", attentions(2, 32), ids=lambda one: type(one).__name__)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), passes=PASSES, back=st.integers(1, 90))
def test_sessions_that_come_and_go_see_their_own_rows_alone(
    attention: RowAttention, seed: int, passes: list[dict[int, tuple[int, int]]], back: int
) -> None:
    """Each pass: of some sessions, the last rows again and so many more; who is not in it may be gone after it.

    No row looks back farther than so many, and what nothing looks at any more is let go.
    """
    rng, sessions = np.random.default_rng(seed), dict[int, tuple[KVCache, Rows]]()
    for number, one in enumerate(passes):
        places = []
        for name, (again, more) in one.items():
            kept, seen = sessions.get(name, (KVCache(LAYERS, 32, attention.room()), drawn(rng, 0, 64)))
            first = max(0, len(seen) - again)
            seen = np.concatenate([seen[:first], drawn(rng, len(seen) - first + more + (not len(seen)), 64)])
            kept.room.grow(len(seen))
            sessions[name] = kept, seen
            places.append((first, len(seen)))
        own = [sessions[name] for name in one]
        attention.begin([kept for kept, _ in own])
        fresh = [seen[first:stop] for (_, seen), (first, stop) in zip(own, places, strict=True)]
        attention.keep(1, np.concatenate(fresh), np.array(places, dtype=np.int32))
        asked = drawn(rng, len(own), 64)
        since = [[max(1, len(seen) - back)] for _, seen in own]
        mixed = attention.attend(1, asked, VisibleRange.of([[len(seen)] for _, seen in own], since))
        for row, (kept, seen) in enumerate(own):
            alone = plain(asked[row : row + 1], seen, [len(seen)], 2, since[row])
            np.testing.assert_allclose(mixed[row : row + 1], alone, atol=2e-5)
            kept.room.let_go(max(1, len(seen) - back - 3))
        attention.begin([])
        for name in [name for name in sessions if name not in one and (name + number) % 2]:
            del sessions[name]


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


def test_unused_slabs_go_when_another_network_needs_them() -> None:
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


def test_a_used_block_keeps_only_its_own_slab() -> None:
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
    engine = streaming(2**26)
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
def test_no_used_block_goes_with_its_slab_or_is_given_twice(moves: list[tuple[int, int]]) -> None:
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
def test_sessions_of_one_model_take_the_memory_of_anothers() -> None:
    engine = OnnxEngine(SHIPPED, threads=1, max_kept_bytes=2**26)
    for model in MODELS:
        for number in range(0, 40, 10):
            names = [f"{model}-{name}" for name in range(number, number + 10)]
            engine.label([a_request(engine, some_words(60, 1), session=name, first=50, model=model) for name in names])
        slabs = [pool.nbytes for pool in _pools(engine)]
        assert sum(slabs) <= 2**26 + sum(64 * pool.block_bytes for pool in _pools(engine)), model
        for name in range(40):
            engine.forget(f"{model}-{name}")


@needs_compiled
def test_evicted_rows_make_room_for_a_pass_within_the_same_call() -> None:
    engine = OnnxEngine(one_model(ENGLISH), threads=1, max_kept_bytes=2**26, max_pass_rows=600)
    engine.label([a_request(engine, some_words(60, 1), session=f"{name}", first=50) for name in range(40)])
    (pool, *_) = _pools(engine)
    assert pool.nbytes <= 2**26 + 64 * pool.block_bytes


def test_numpys_attention_holds_no_rows_of_sessions_behind_a_pass() -> None:
    engine = streaming(compiled=False)
    engine.label([a_request(engine, some_words(20, 1))])
    for network in _networks(engine):
        attention = network._network._attention
        assert isinstance(attention, NumpyAttention)
        assert attention._rooms == []
