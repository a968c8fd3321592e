"""The rise finds what is carried, from above as from below, and takes nothing for carried that was not tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.sizing.rising import rising


def tried(first: int, most: int, capacity: int, between: int) -> list[int]:
    """Return what is tried of a machine that carries so many."""
    carried: dict[int, bool] = {}
    for sessions in rising(first, most, carried, between=between):
        assert sessions not in carried
        carried[sessions] = sessions <= capacity
    return [*carried]


@pytest.mark.parametrize(
    ("capacity", "wanted"),
    [
        (350, [100, 200, 400, 300, 350]),
        (299, [100, 200, 400, 300, 250]),
        (30, [100, 50, 25]),
        (0, [100, 50, 25]),
        (5_000, [100, 200, 400, 800]),
    ],
)
def test_it_doubles_while_they_are_carried_and_then_halves_what_lies_between(capacity: int, wanted: list[int]) -> None:
    assert tried(100, 800, capacity, between=2) == wanted


def test_nothing_is_tried_where_the_first_is_more_than_the_most() -> None:
    assert tried(100, 99, 1_000, between=3) == []


@given(first=st.integers(1, 200), capacity=st.integers(0, 2_000), between=st.integers(12, 20))
def test_with_enough_tries_between_it_finds_the_very_number(first: int, capacity: int, between: int) -> None:
    found = max((sessions for sessions in tried(first, 10_000, capacity, between) if sessions <= capacity), default=0)
    assert found == capacity
