"""The heap of due times: the earliest first, one entry a session, whatever moves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.partition.timers import Timers

_MOVES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.none() | st.integers(0, 40)), max_size=80)


@given(_MOVES)
def test_the_earliest_is_next_however_the_times_move_and_nobody_has_two_entries(
    moves: list[tuple[str, int | None]],
) -> None:
    due: dict[str, int | None] = {}
    timers = Timers(due.get)
    for session, due_ms in moves:
        due[session] = due_ms
        timers.update(session, due_ms)
        running = [(at_ms, name) for name, at_ms in due.items() if at_ms is not None]
        assert timers.next() == min(running, default=None)
        assert len(timers) <= len(due)


@given(_MOVES, st.data())
def test_who_is_due_by_a_time_is_found_though_entries_stand_too_early(
    moves: list[tuple[str, int | None]], data: st.DataObject
) -> None:
    due: dict[str, int | None] = {}
    timers = Timers(due.get)
    for session, due_ms in moves:
        due[session] = due_ms
        timers.update(session, due_ms)
        by_ms = data.draw(st.integers(0, 40))
        running = [(at_ms, name) for name, at_ms in due.items() if at_ms is not None and at_ms <= by_ms]
        assert timers.next_by(by_ms) == min(running, default=None)


def test_a_session_that_falls_silent_again_and_again_keeps_one_entry() -> None:
    due = {"ann": 0}
    timers = Timers(due.get)
    for utterance in range(1_000):
        for due_ms in (
            3_600_000 + utterance,
            1_000 + utterance,
        ):
            due["ann"] = due_ms
            timers.update("ann", due_ms)
    assert len(timers) == 1


def test_all_come_out_in_the_order_of_time_and_name() -> None:
    due: dict[str, int | None] = {f"s{number:03}": number * 7919 % 50 for number in range(300)}
    timers = Timers(due.get)
    for name, due_ms in due.items():
        timers.update(name, due_ms)
    wanted = sorted((at_ms, name) for name, at_ms in due.items() if at_ms is not None)
    came = []
    while (first := timers.next()) is not None:
        came.append(first)
        due[first[1]] = None
    assert came == wanted
