"""Closed sessions at rest: only their snapshot is kept, and nothing that comes out is any different for it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.events import WordsEvent
from caesura.schemas.state import SessionState, SessionStatus, encode_state
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.partition_driver import Driver, event

_RULES = DecodingRules(flush_after_ms=1_000, stall_after_ms=1_000, idle_after_ms=12_000, forget_after_ms=60_000)


def _checkpoint(driver: Driver, *, resting: bool) -> list[str]:
    driver.work()
    snapshots = driver.sessions.snapshots(driver.sessions.touched)
    stored = {name: data for name, data in snapshots.items() if data is not None}
    return driver.sessions.settle(stored if resting else None)


def _stored(driver: Driver) -> dict[str, SessionState | None]:
    driver.work()
    return driver.states(sorted(set(driver.sessions.names()) - set(driver.sessions.forgotten)))


_STEPS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from(["words", "nothing", "end", "wait"]),
        st.sampled_from([0, 400, 1_500, 13_000, 61_000]),
        st.booleans(),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(_STEPS)
def test_what_comes_out_is_the_same_whether_closed_sessions_rest_or_not(
    steps: list[tuple[str, str, int, bool]],
) -> None:
    awake, rested = Driver(rules=_RULES), Driver(rules=_RULES)
    for seq, (name, kind, after_ms, commits) in enumerate(steps):
        for driver in (awake, rested):
            if kind == "wait":
                driver.wait(after_ms)
            else:
                driver.give(_event(seq, name, kind), after_ms=after_ms)
            if commits:
                _checkpoint(driver, resting=driver is rested)
        assert rested.sessions.statuses() == awake.sessions.statuses()
        assert len(rested.sessions) == len(awake.sessions)
        assert rested.sessions.next_due_ms == awake.sessions.next_due_ms
        assert rested.sessions.replay_offset == awake.sessions.replay_offset
        assert rested.out == awake.out
    assert _stored(rested) == _stored(awake)
    assert rested.context.counts == awake.context.counts


def _event(seq: int, name: str, kind: str) -> WordsEvent:
    return event(seq, "so it is" if kind == "words" else "", session=name, session_end=kind == "end")


def test_a_session_rests_once_it_is_closed_and_stored_and_wakes_to_an_event() -> None:
    driver = Driver(rules=_RULES)
    driver.give(event(0, "one two", session="ann"))
    assert _checkpoint(driver, resting=True) == []
    driver.wait(13_000)
    assert driver.sessions.statuses() == {SessionStatus.CLOSED: 1}
    assert list(driver.sessions.awake) == ["ann"]  # what closed it is not stored yet
    assert _checkpoint(driver, resting=True) == ["ann"]
    assert (list(driver.sessions.awake), list(driver.sessions.names()), len(driver.sessions)) == ([], ["ann"], 1)
    driver.give(event(1, "three", session="ann"))
    assert list(driver.sessions.awake) == ["ann"]
    assert driver.sessions.statuses() == {SessionStatus.OPEN: 1}


def test_one_that_was_only_asked_rests_again_as_it_was_stored() -> None:
    driver = Driver(rules=_RULES)
    driver.give(event(0, "one", session="ann", session_end=True))
    _checkpoint(driver, resting=True)
    driver.give(event(0, "one", session="ann", session_end=True))  # a repeat: refused, for it has ended
    assert list(driver.sessions.awake) == ["ann"]
    assert list(driver.sessions.touched) == []
    assert _checkpoint(driver, resting=True) == ["ann"]
    assert list(driver.sessions.awake) == []


def test_stored_sessions_are_restored_at_rest_where_they_are_closed_and_awake_where_they_are_open() -> None:
    before = Driver(rules=_RULES)
    before.give(event(0, "one", session="ann", session_end=True))
    before.give(event(0, "two", session="ben"))
    states = _stored(before)
    after = Driver(rules=_RULES)
    for state in states.values():
        assert state is not None
        after.sessions.restore(state, encode_state(state))
    assert list(after.sessions.awake) == ["ben"]
    assert after.sessions.latest_ms == before.sessions.latest_ms
    assert _stored(after) == states


def test_a_session_at_rest_is_forgotten_in_time() -> None:
    driver = Driver(rules=_RULES)
    driver.give(event(0, "one", session="ann", session_end=True))
    _checkpoint(driver, resting=True)
    driver.wait(60_000)
    assert list(driver.sessions.forgotten) == ["ann"]
    assert driver.states(["ann"]) == {"ann": None}
    _checkpoint(driver, resting=True)
    assert (list(driver.sessions.names()), len(driver.sessions)) == ([], 0)
