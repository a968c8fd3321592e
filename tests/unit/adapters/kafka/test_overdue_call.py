"""Calls that may not come back: their errors, and going on without them."""

from __future__ import annotations

import threading

import pytest

from caesura.worker.adapters.kafka.overdue_call import returns_within


def test_a_call_that_comes_back_is_waited_for() -> None:
    done: list[str] = []

    assert returns_within(30.0, lambda: done.append("done"))
    assert done == ["done"]


def test_what_a_call_raises_is_raised_where_it_is_waited_for() -> None:
    def refuse() -> None:
        raise KeyError("refused")

    with pytest.raises(KeyError, match="refused"):
        returns_within(30.0, refuse)


def test_a_call_that_does_not_come_back_is_left_to_itself() -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def hang() -> None:
        may_end.wait()
        has_ended.set()

    assert not returns_within(0.01, hang)
    assert not has_ended.is_set()
    may_end.set()
    assert has_ended.wait(30.0)
