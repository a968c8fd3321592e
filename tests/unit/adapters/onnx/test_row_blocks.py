"""Blocks go from session to session, and no two have the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worker.adapters.onnx.row_blocks import BLOCK_ROWS, BlockPool, Blocks

MOVES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40 * BLOCK_ROWS)), max_size=60)


@given(moves=MOVES)
def test_no_block_is_two_sessions_and_those_that_are_there_stay(moves: list[tuple[int, int]]) -> None:
    pool = BlockPool(2, 1, 16)
    sessions: dict[int, Blocks] = {}
    for name, rows in moves:
        if rows == 0:
            sessions.pop(name, None)
            continue
        own = sessions.setdefault(name, Blocks(pool))
        before = own.numbers.copy()
        own.grow(rows)
        assert own.numbers[: len(before)] == before
        assert len(own.numbers) == max(len(before), -(-rows // BLOCK_ROWS))
        assert own.nbytes == len(own.numbers) * pool.part(own.numbers[0], 0).nbytes * 2
        taken = [number for one in sessions.values() for number in one.numbers]
        assert len(taken) == len(set(taken))
        assert all(0 <= number < sum(map(len, pool.slabs)) for number in taken)


def test_what_a_session_had_is_anothers_when_it_is_gone() -> None:
    pool = BlockPool(2, 1, 16)
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
