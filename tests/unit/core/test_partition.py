"""All sessions of a partition together: order of timers, what is touched, putting back after an abort."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Cause
from caesura.schemas.state import SessionStatus, encode_ledger
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.partition.replay import ReplayOffsets
from caesura.worker.core.partition.timers import Timers
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event
from tests.harness.speech import said


def test_timers_fire_in_the_order_of_their_due_times_and_names_before_the_record_that_makes_them_due() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one", session="b"))
    driver.give(event(0, "one", session="a"))
    driver.give(event(0, "one", session="c"), after_ms=1)
    driver.give(event(0, "one", session="d", utterance_end=True), after_ms=800)

    assert [segment.session for segment in driver.segments] == ["a", "b", "c", "d"]


def test_timers_of_a_session_without_new_words_fire_after_a_restart() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one"))
    driver.restart()

    assert driver.sessions.next_due_ms == NOW_MS + 800
    driver.wait(800)
    assert [segment.cause for segment in driver.segments] == [Cause.SILENCE]


def test_a_new_owner_begins_at_the_latest_time_that_a_session_knows_of() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(idle_after_ms=20_000))
    driver.give(event(0, "one"))
    driver.wait(20_000)
    driver.restart()

    assert driver.sessions.latest_ms == NOW_MS + 20_000


@pytest.mark.parametrize(
    ("spoken", "silence_ms"),
    [
        (event(0, "one"), 800),
        (event(0, "one", heard_until_ms=100), 5_000),
        (event(0, "\u4f60", lang="zh"), 800),
    ],
    ids=["by arrival", "by its own clock", "held back"],
)
def test_words_that_were_replayed_and_never_published_were_no_silence_until_then(
    spoken: WordsEvent, silence_ms: int
) -> None:
    driver = Driver(engine=MARKED, segmenters=segmenters)
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(spoken)
    driver.give(event(0, session="another", session_end=True), after_ms=60_000)
    driver.sessions.replayed(driver.time_ms)

    driver.wait(silence_ms - 1)
    assert [segment.session for segment in driver.segments] == ["another"]
    driver.wait(1)
    assert [segment.session for segment in driver.segments] == ["another", "s"]


def test_whoever_a_replay_keeps_waiting_has_a_record_that_says_since_when_beside_its_last_events_own_time() -> None:
    driver = Driver(engine=MARKED)
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(event(0, "one", heard_until_ms=100))
    driver.sessions.replayed(NOW_MS + 60_000)

    assert set(driver.sessions.unrecorded) == {"s"}
    record = driver.sessions.ledger_states(["s"])["s"]
    assert record is not None
    assert (record.admission.activity_ms, record.admission.event_ms) == (NOW_MS + 60_000, NOW_MS)
    assert driver.sessions.latest_ms == NOW_MS + 60_000


def test_words_that_were_replayed_are_silent_as_they_were_where_they_were_not_for_long_enough_by_then() -> None:
    driver = Driver(engine=MARKED)
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(event(0, "one"))
    driver.sessions.replayed(NOW_MS + 799)

    assert driver.sessions.next_due_ms == NOW_MS + 800


def test_whose_words_were_published_is_idle_since_the_last_of_them_though_it_was_replayed() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(idle_after_ms=20_000))
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(event(0, "one", utterance_end=True))
    driver.sessions.replayed(NOW_MS + 30_000)

    assert driver.sessions.next_due_ms == NOW_MS + 20_000


def test_only_sessions_whose_state_may_have_changed_are_touched() -> None:
    driver = Driver()
    driver.give(event(0, "one", session="a"))
    driver.give(event(0, "one", session="b"))
    driver.sessions.settle()
    driver.give(event(1, "two", session="b"))
    driver.give(event(0, "one", session="a"))

    assert set(driver.sessions.touched) == {"b"}


def test_after_an_abort_sessions_are_what_they_were_and_the_same_input_gives_the_same_segments() -> None:
    driver = Driver()
    driver.give(event(0, "one two three", session="a"))
    committed = driver.states(["a"])
    driver.sessions.settle()
    offset = driver.offset
    tries = []
    for _ in range(2):
        driver.offset, driver.out = offset, []
        driver.give(event(1, " ".join(f"n{number}" for number in range(40)), session="a"))
        driver.give(event(0, "four", session="b", session_end=True))
        tries.append(driver.segments)
        for key in list(driver.sessions.touched):
            driver.sessions.put_back(key, committed.get(key))

    assert tries[0] == tries[1]
    assert tries[0] != []
    assert driver.states(["a"]) == committed
    assert list(driver.sessions.names()) == ["a"]
    assert not driver.sessions.touched


def test_work_that_was_not_done_and_segments_that_were_not_taken_go_with_an_abort() -> None:
    driver = Driver(lazy=True, engine=MARKED)
    driver.give(event(0, "one two-stop " + "w " * 10, utterance_end=True))
    (pending,) = driver.sessions.waiting(NOW_MS)
    (labels,) = driver.engine.label([pending.request])
    driver.sessions.resolve("s", labels, NOW_MS)
    driver.sessions.put_back("s", None)

    assert not driver.sessions.is_busy
    assert driver.sessions.waiting(NOW_MS) == []
    assert driver.sessions.take_segments() == []
    assert len(driver.sessions) == 0


def test_what_waits_behind_a_step_is_said_so_that_a_flood_can_be_served_last() -> None:
    driver = Driver(lazy=True, rules=DecodingRules(look_ahead_words=0))
    for seq in range(4):
        driver.give(event(seq, "one two three"))
    queued = []
    while pending := driver.sessions.waiting(NOW_MS):
        queued.append(pending[0].queued_words)
        (labels,) = driver.engine.label([pending[0].request])
        driver.sessions.resolve("s", labels, NOW_MS)

    assert queued == [9, 6, 3, 0]


def test_what_comes_while_labels_are_awaited_is_told_and_is_done_with_them() -> None:
    driver = Driver(lazy=True, rules=DecodingRules(look_ahead_words=0))
    driver.give(event(0, "one two three"))
    (first,) = driver.sessions.waiting(NOW_MS)
    driver.give(event(1, "four"))
    (again,) = driver.sessions.waiting(NOW_MS)
    assert (first.queued_words, again.queued_words) == (0, 1)
    assert again.request is first.request

    driver.give(event(2, "five"))
    (labels,) = driver.engine.label([first.request])
    driver.sessions.resolve("s", labels, NOW_MS)
    assert driver.sessions.waiting(NOW_MS) == []
    assert not driver.sessions.is_busy
    assert len(driver.state().buffer) == 5


def test_sessions_are_counted_by_where_they_are_in_their_life() -> None:
    driver = Driver(rules=DecodingRules(idle_after_ms=20_000))
    driver.give(event(0, "one", session="a"))
    driver.give(event(0, "one", session="b", session_end=True), after_ms=20_000)
    driver.give(event(0, "one", session="c"))

    assert driver.sessions.statuses() == {SessionStatus.OPEN: 1, SessionStatus.CLOSED: 1, SessionStatus.ENDED: 1}


def test_a_ledger_record_has_no_words_text_and_says_where_the_buffer_starts() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_context_words=0, context_words=1))
    driver.give(event(0, "canary-one canary-stop " + "canary " * 7 + "canaries"))
    record = driver.sessions.ledger_states(["s"])["s"]

    assert record is not None
    assert b"canar" not in encode_ledger(record)
    assert (record.start_offset, record.start_position, record.output.index, record.output.words) == (0, 1, 1, 2)
    assert (record.decoding.model_words, record.decoding.frozen, record.lengths) == (
        10,
        1,
        (11, 6, 6, 6, 6, 6, 6, 6, 8),
    )


def test_a_ledger_record_has_the_labels_of_the_frozen_words_that_are_still_context() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one-comma two", utterance_end=True))
    driver.give(event(1, "three four"))
    record = driver.sessions.ledger_states(["s"])["s"]

    assert record is not None
    assert (record.decoding.frozen, record.decoding.labels.punctuation[:2], record.lengths) == (
        2,
        b"\1\0",
        (9, 3, 5, 4),
    )


def test_the_replay_offset_is_the_smallest_that_any_session_needs() -> None:
    driver = Driver(engine=MARKED)
    needed = []
    for one in (
        event(0, session="quiet"),
        event(0, "one", session="a"),
        event(1, session="quiet", session_end=True),
        event(1, session="a", session_end=True),
        event(0, "one", session="b", utterance_end=True),
    ):
        driver.give(one)
        needed.append(driver.sessions.replay_offset)

    assert needed == [0, 0, 1, None, 4]


def test_an_event_after_a_sessions_end_asks_for_a_ledger_record_and_is_not_replayed() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(idle_after_ms=20_000))
    driver.give(event(0, "one"))
    driver.wait(20_000)
    assert driver.sessions.replay_offset is None

    driver.give(event(1))
    assert set(driver.sessions.unrecorded) == {"s"}
    driver.restart()
    assert driver.sessions.replay_offset is None


HASTY = DecodingRules(
    flush_after_ms=400,
    stall_after_ms=400,
    idle_after_ms=1_000,
    forget_after_ms=1_200,
    bounds=OptionBounds(flush_after_ms=Bounds(least=200, most=1_000)),
)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.integers(0, 1_500)), max_size=40))
def test_labelling_at_once_or_late_freezes_the_same_whatever_timers_fire(script: list[tuple[str, int, int]]) -> None:
    at_once, late = Driver(rules=HASTY), Driver(rules=HASTY, lazy=True)
    seqs = dict.fromkeys("abc", 0)
    for name, words, after_ms in script:
        for driver in (at_once, late):
            driver.give(event(seqs[name], "one two three four " * words, session=name), after_ms=after_ms)
        seqs[name] += 1
    for driver in (at_once, late):
        driver.wait(10_000)
    late.work()

    for name in "abc":
        ours = [[one for one in driver.segments if one.session == name] for driver in (at_once, late)]
        assert ours[0] == ours[1]
    assert len(said(late.segments)) == 4 * sum(words for _, words, _ in script)
    assert len(late.sessions) == 0


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 9))))
def test_the_smallest_replay_offset_is_kept_up(changes: list[tuple[str, int | None]]) -> None:
    offsets, naive = ReplayOffsets(), dict[str, int | None]()
    for _ in range(20):
        for name, offset in changes:
            offsets.set(name, offset)
            naive[name] = offset
            assert offsets.smallest == min((one for one in naive.values() if one is not None), default=None)


def test_a_timer_that_moves_earlier_comes_before_one_that_was_next() -> None:
    due: dict[str, int | None] = {"a": 9, "b": 5}
    timers = Timers(due.get)
    timers.update("a", 9)
    timers.update("b", 5)
    due["a"] = 3
    timers.update("a", 3)

    assert timers.next() == (3, "a")


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 9))))
def test_the_next_timer_is_the_earliest_by_time_and_name(changes: list[tuple[str, int | None]]) -> None:
    due: dict[str, int | None] = {}
    timers = Timers(due.get)
    for name, due_ms in changes:
        due[name] = due_ms
        timers.update(name, due_ms)
        running = [(one_ms, one) for one, one_ms in due.items() if one_ms is not None]
        assert timers.next() == min(running, default=None)
