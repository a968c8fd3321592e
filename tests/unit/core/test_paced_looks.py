"""Looks are paced: at most one in an interval at each key, and none is lost."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.partition.paced_looks import PacedLooks

A_LONG_INTERVAL_S = 30 * 24 * 3600.0


def test_what_was_never_told_is_due_at_once_whatever_the_interval_and_the_clock() -> None:
    looks = PacedLooks[str](A_LONG_INTERVAL_S)
    looks.changed("ann")
    assert looks.due(0.0) == ["ann"]
    assert looks.due_in_s(0.0) == 0


def test_what_was_told_is_due_again_an_interval_later_if_it_has_changed() -> None:
    looks = PacedLooks[str](0.5)
    looks.changed("ann")
    looks.told("ann", 10.0)
    assert looks.due(99.0) == []
    looks.told("ann", 100.0)
    looks.changed("ann")
    assert looks.due(100.25) == []
    assert looks.due_in_s(100.25) == 0.25
    assert looks.due(100.5) == ["ann"]
    assert looks.due_in_s(100.5) == 0


def test_the_order_is_that_in_which_they_changed_first() -> None:
    looks = PacedLooks[str](0.5)
    for name in ("ben", "ann", "ben", "cleo"):
        looks.changed(name)
    assert looks.due(0.0) == ["ben", "ann", "cleo"]


def test_what_is_due_stays_so_until_it_is_dealt_with() -> None:
    looks = PacedLooks[str](0.5)
    looks.changed("ann")
    assert looks.due(0.0) == looks.due(0.0) == ["ann"]


def test_who_is_forgotten_begins_anew() -> None:
    looks = PacedLooks[str](0.5)
    looks.told("ann", 0.0)
    looks.changed("ann")
    looks.forget("ann")
    assert looks.due_in_s(0.25) == math.inf
    looks.changed("ann")
    assert looks.due(0.25) == ["ann"]


def test_what_is_passed_over_is_counted_and_its_pace_is_kept() -> None:
    looks = PacedLooks[str](0.5)
    looks.told("ann", 0.0)
    looks.changed("ann")
    looks.changed("ben")
    assert looks.pass_over() == 2
    assert looks.due(0.25) == []
    looks.changed("ann")
    assert looks.due(0.25) == []
    assert looks.due(0.5) == ["ann"]


@pytest.mark.parametrize("interval_s", [0.0, 0.25, A_LONG_INTERVAL_S])
@given(changes=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3))))
def test_no_two_looks_are_closer_than_the_interval_and_the_wait_ends_when_one_is_due(
    interval_s: float, changes: list[tuple[str, int]]
) -> None:
    looks, now_s, told_at_s = PacedLooks[str](interval_s), 0.0, dict[str, float]()
    for name, quarters in changes:
        now_s += quarters / 4
        looks.changed(name)
        assert bool(looks.due(now_s)) == (looks.due_in_s(now_s) == 0)
        for key in looks.due(now_s):
            assert now_s - told_at_s.get(key, -math.inf) >= interval_s
            looks.told(key, now_s)
            told_at_s[key] = now_s
    wait_s = looks.due_in_s(now_s)
    assert math.isinf(wait_s) or looks.due(now_s + wait_s)
    assert {name for name, _ in changes} == told_at_s.keys(), "each was told once at least"
