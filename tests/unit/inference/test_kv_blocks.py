"""Blocks go from session to session, and no two have the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.inference.attention.attention import RowAttention, VisibleRange
from caesura.worker.inference.kv_cache.kv_blocks import BLOCK_ROWS, OWN_ROWS, BlockPool, Blocks
from caesura.worker.inference.kv_cache.kv_cache import KVCache, Rows
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit
from tests.unit.inference.attentions import LAYERS, attentions, drawn, plain

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


def test_what_a_session_had_is_anothers_when_it_is_gone() -> None:
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


def test_blocks_go_once_nothing_looks_there_and_are_there_again_for_a_buffer_that_begins_anew() -> None:
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


def test_what_cannot_be_given_back_is_lost_and_never_two_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
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
@settings(max_examples=60)
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
