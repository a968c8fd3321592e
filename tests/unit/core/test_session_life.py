"""Open, closed, ended, forgotten: how a session ends, and how it comes back (docs/design.md, *End of a session*)."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Cause, Gap, Segment
from caesura.schemas.state import SessionState, SessionStatus, encode_state
from caesura.worker.core.decoding.admission import OfferOutcome
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, EventFields, event
from tests.harness.speech import said

RULES = DecodingRules(idle_after_ms=20_000, forget_after_ms=60_000, routes=frozenset({"de", "fr", "ja"}))


def test_the_end_of_a_session_flushes_all_and_the_last_segment_says_so() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one-stop two", session_end=True))

    assert [(one.cause, one.session_end) for one in driver.segments] == [(Cause.SENTENCE, False), (Cause.END, True)]


def test_a_session_that_ends_with_nothing_left_says_so_without_words() -> None:
    driver = Driver()
    driver.give(event(0, "one", utterance_end=True))
    driver.give(event(1, session_end=True))

    closing = driver.segments[-1]
    assert (closing.words, closing.session_end, closing.cause, closing.index) == ((), True, Cause.END, 1)
    assert (closing.first_word, closing.sentence_start, closing.sentence_end) == (1, False, False)


def test_events_after_the_end_are_refused_in_any_epoch() -> None:
    driver = Driver()
    driver.give(event(0, "one", session_end=True))

    assert driver.give(event(1, "two")).reason is DeadLetterReason.SESSION_ENDED
    assert driver.give(event(2)).reason is DeadLetterReason.SESSION_ENDED
    assert driver.give(event(0, "two", epoch=1)).reason is DeadLetterReason.SESSION_ENDED


def test_an_idle_session_is_closed_and_its_text_leaves_its_state() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one"))
    driver.wait(20_000)

    assert [(one.cause, one.session_end) for one in driver.segments] == [(Cause.SILENCE, False), (Cause.IDLE, True)]
    state = driver.state()
    assert (state.admission.status, state.buffer, state.admission.closed_ms) == (
        SessionStatus.CLOSED,
        (),
        driver.time_ms,
    )


def test_silence_and_idleness_at_one_instant_come_in_this_order() -> None:
    bounds = OptionBounds(flush_after_ms=Bounds(least=200, most=5_000))
    driver = Driver(rules=DecodingRules(flush_after_ms=5_000, stall_after_ms=5_000, idle_after_ms=5_000, bounds=bounds))
    driver.give(event(0, "one"))
    driver.wait(5_000)

    assert [one.cause for one in driver.segments] == [Cause.SILENCE, Cause.IDLE]


def test_a_returning_session_keeps_counting_with_an_empty_buffer() -> None:
    driver = Driver(rules=RULES, engine=MARKED)
    driver.give(event(0, "one"))
    driver.wait(20_000)
    driver.give(event(1, "two", utterance_end=True))

    again = driver.segments[-1]
    assert (again.index, again.first_word, again.sentence, again.sentence_start) == (2, 1, 1, True)
    assert driver.requests[-1].words == ("two",)
    assert (driver.state().admission.status, driver.state().admission.closed_ms) == (SessionStatus.OPEN, None)
    assert driver.context.counts.reopened == 1


def test_wordless_events_neither_reopen_nor_keep_a_closed_session() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one"))
    driver.wait(20_000)
    for seq in range(1, 7):
        assert driver.state().admission.status is SessionStatus.CLOSED
        driver.give(event(seq), after_ms=9_999)
    driver.wait(6)

    assert driver.states(["s"]) == {"s": None}


def test_a_session_of_wordless_events_is_closed_and_forgotten() -> None:
    driver = Driver(rules=RULES)
    for seq in range(16):
        driver.give(event(seq), after_ms=5_000)
    driver.wait(5_000)

    assert [(one.cause, one.session_end, one.words) for one in driver.segments] == [(Cause.IDLE, True, ())]
    assert driver.states(["s"]) == {"s": None}


def test_a_forgotten_session_that_goes_on_is_another_one() -> None:
    driver = Driver(rules=RULES)
    for seq in range(3):
        driver.give(event(seq, "one"))
    driver.wait(80_000)
    driver.sessions.settle()
    driver.give(event(3, "two", utterance_end=True))

    again = driver.segments[-1]
    assert (again.since, again.index, again.first_word) == (3, 0, 0)
    assert again.gaps == (Gap(epoch=0, first_seq=0, last_seq=2, before_word=0),)


def test_a_repeat_after_the_end_is_dropped_and_counted_like_any_other() -> None:
    driver = Driver()
    driver.give(event(0, "one"))
    driver.give(event(1, session_end=True))

    assert driver.give(event(0, "one")).outcome is OfferOutcome.REPEAT
    assert driver.give(event(1, session_end=True)).outcome is OfferOutcome.REPEAT
    assert driver.context.counts.repeats == 2


def test_a_closed_session_that_ends_says_so_once_more() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one"))
    driver.wait(20_000)
    driver.give(event(1, session_end=True))

    assert [(one.cause, one.session_end) for one in driver.segments[-2:]] == [(Cause.IDLE, True), (Cause.END, True)]


def test_a_closed_session_is_forgotten_as_a_tombstone_that_settles() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one"))
    driver.wait(20_000)
    driver.sessions.settle()
    driver.wait(60_000)

    assert set(driver.sessions.touched) == {"s"}
    assert driver.states(["s"]) == {"s": None}
    assert driver.sessions.ledger_states(["s"]) == {"s": None}
    assert len(driver.sessions) == 0
    driver.sessions.settle()
    assert list(driver.sessions.names()) == []
    assert driver.sessions.next_due_ms is None


def test_a_forgotten_session_cannot_reuse_an_identity() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", session_end=True))
    driver.wait(60_000)
    driver.give(event(0, "one", session_end=True))

    first, second = driver.segments
    assert (first.index, second.index) == (0, 0)
    assert first.since != second.since


def test_a_name_taken_again_before_its_tombstone_is_settled_is_a_living_session() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", session_end=True))
    driver.wait(60_000)
    driver.give(event(0, "two"))

    state = driver.states(["s"])["s"]
    assert state is not None
    assert (state.since, len(driver.sessions), set(driver.sessions.unrecorded)) == (1, 1, {"s"})
    driver.sessions.settle()
    assert list(driver.sessions.names()) == ["s"]


def test_a_name_reused_before_the_old_sessions_work_ends_loses_nothing() -> None:
    driver = Driver(rules=RULES, lazy=True)
    driver.give(event(0, "one two"))
    driver.wait(20_000 + 60_000)
    driver.give(event(0, "three", session_end=True))
    driver.work()

    assert said(driver.segments) == ["one", "two", "three"]
    assert [one.since for one in driver.segments] == [0, 0, 1]
    assert not driver.sessions.is_busy


def test_a_segment_carries_the_latest_conversation_speaker_and_attributes() -> None:
    driver = Driver()
    driver.give(event(0, "one", conversation="c", speaker="anna", attributes={"room": "1"}))
    driver.give(event(1, "two", speaker="bela", utterance_end=True))

    (segment,) = driver.segments
    assert (segment.conversation, segment.speaker, segment.attributes) == ("c", "bela", {"room": "1"})


def test_a_change_of_language_freezes_the_buffer_under_the_old_one() -> None:
    driver = Driver(engine=MARKED, rules=RULES)
    driver.give(event(0, "one two", lang="en", targets=("de",)))
    driver.give(event(1, "three", lang="zh-CN", targets=("fr",), utterance_end=True))

    first, second = driver.segments
    assert (first.cause, first.lang, said([first])) == (Cause.LANGUAGE, "en", ["one", "two"])
    assert (second.lang, second.index, second.first_word, second.sentence) == ("zh-CN", 1, 2, 1)
    assert [out.routes for out in driver.out] == [{"de": None}, {"fr": None}]
    assert driver.requests[-1].words == ("three",)
    assert second.model is not None
    assert second.model.id == "scripted-zh"


def test_a_language_tag_in_other_capitals_is_no_other_language() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one", lang="en-US"))
    driver.give(event(1, "two", lang="en-us", session_end=True))

    assert [said([one]) for one in driver.segments] == [["one", "two"]]


def test_beyond_the_limit_new_names_are_refused_and_known_ones_go_on() -> None:
    driver = Driver(rules=dataclasses.replace(RULES, max_open_sessions=2))
    for name in ("ann", "ben"):
        driver.give(event(0, "one", session=name))
    refused = driver.give(event(0, "one", session="cy"))

    assert (refused.outcome, refused.reason) == (OfferOutcome.REFUSED, DeadLetterReason.TOO_MANY_SESSIONS)
    assert driver.give(event(1, "two", session="ann")).outcome is OfferOutcome.ACCEPTED
    assert set(driver.sessions.names()) == {"ann", "ben"}


def test_an_ended_session_makes_room_and_a_returning_one_is_not_new() -> None:
    driver = Driver(rules=dataclasses.replace(RULES, max_open_sessions=2))
    driver.give(event(0, "one", session="ann", session_end=True))
    driver.give(event(0, "one", session="ben"))
    driver.wait(20_000)
    assert driver.state("ben").admission.status is SessionStatus.CLOSED
    for name in ("cy", "dee"):
        assert driver.give(event(0, "one", session=name)).outcome is OfferOutcome.ACCEPTED
    assert driver.give(event(1, "two", session="ben")).outcome is OfferOutcome.ACCEPTED
    assert driver.give(event(0, "one", session="eve")).outcome is OfferOutcome.REFUSED


def test_sessions_that_are_loaded_count() -> None:
    rules = dataclasses.replace(RULES, max_open_sessions=1)
    before, after = Driver(rules=rules), Driver(rules=rules)
    before.give(event(0, "one", session="ann"))
    after.sessions.put_back("ann", before.state("ann"))

    assert after.give(event(0, "one", session="ben")).outcome is OfferOutcome.REFUSED
    after.sessions.put_back("ann", None)
    assert after.give(event(0, "one", session="ben")).outcome is OfferOutcome.ACCEPTED


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


@given(_STEPS)
def test_dormant_sessions_do_not_change_the_output(
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


def test_a_session_that_was_only_read_becomes_dormant_again() -> None:
    driver = Driver(rules=_RULES)
    driver.give(event(0, "one", session="ann", session_end=True))
    _checkpoint(driver, resting=True)
    driver.give(event(0, "one", session="ann", session_end=True))  # a repeat: refused, for it has ended
    assert list(driver.sessions.awake) == ["ann"]
    assert list(driver.sessions.touched) == []
    assert _checkpoint(driver, resting=True) == ["ann"]
    assert list(driver.sessions.awake) == []


def test_closed_sessions_are_restored_dormant_and_open_ones_active() -> None:
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


HASTY = DecodingRules(
    flush_after_ms=400,
    stall_after_ms=400,
    idle_after_ms=1_000,
    forget_after_ms=1_200,
    max_buffer_words=20,
    bounds=OptionBounds(flush_after_ms=Bounds(least=200, most=1_000)),
)
NAMES = "abc"

Step = tuple[str, int, int, bool]

steps = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 5), st.integers(0, 1_500), st.booleans()), min_size=1, max_size=25
)


class Committing:
    """Feeds a script from where it was last committed; an abort puts everything back, as the runtime does."""

    def __init__(self, script: list[Step], *, lazy: bool) -> None:
        self.script = script
        self.driver = Driver(rules=HASTY, lazy=lazy)
        self.committed: dict[str, SessionState] = {}
        self.published: list[Segment] = []
        self.seqs = dict.fromkeys(NAMES, 0)
        self._mark()

    def _mark(self) -> None:
        self._offset, self._time_ms, self._seqs = self.driver.offset, self.driver.time_ms, dict(self.seqs)

    def feed(self) -> None:
        name, words, after_ms, ends = self.script[self.driver.offset]
        fields: EventFields = {"session": name, "utterance_end": ends}
        self.driver.give(event(self.seqs[name], "one two three four " * words, **fields), after_ms=after_ms)
        self.seqs[name] += 1

    def commit(self) -> None:
        self.driver.work()
        for name, state in self.driver.states(self.driver.sessions.touched).items():
            self.committed.pop(name, None)
            if state is not None:
                self.committed[name] = state
        self.driver.sessions.settle()
        self.published += self.driver.segments
        self.driver.out.clear()
        self._mark()

    def abort(self) -> None:
        for name in list(self.driver.sessions.touched):
            self.driver.sessions.put_back(name, self.committed.get(name))
        self.driver.out.clear()
        self.driver.offset, self.driver.time_ms, self.seqs = self._offset, self._time_ms, dict(self._seqs)


@given(script=steps, ends=st.lists(st.sampled_from(["go on", "commit", "abort"]), max_size=60), lazy=st.booleans())
def test_aborted_checkpoints_leave_no_trace(script: list[Step], ends: list[str], *, lazy: bool) -> None:
    undisturbed = Committing(script, lazy=False)
    for _ in script:
        undisturbed.feed()
    undisturbed.driver.wait(10_000)
    undisturbed.commit()

    disturbed = Committing(script, lazy=lazy)
    for end in ends:
        if disturbed.driver.offset < len(script):
            disturbed.feed()
        if end == "commit":
            disturbed.commit()
        if end == "abort":
            disturbed.abort()
    while disturbed.driver.offset < len(script):
        disturbed.feed()
    disturbed.driver.wait(10_000)
    disturbed.commit()

    for name in NAMES:
        assert [one for one in disturbed.published if one.session == name] == [
            one for one in undisturbed.published if one.session == name
        ]
    assert disturbed.committed == undisturbed.committed == {}
    assert disturbed.driver.time_ms > NOW_MS


def test_the_closing_record_goes_to_every_route_that_the_session_used() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", utterance_end=True, targets=("de", "nowhere")))
    driver.give(event(1, "two", utterance_end=True, targets=("fr",)))
    driver.give(event(2, session_end=True))

    assert [out.routes for out in driver.out] == [{"de": None}, {"fr": None}, {"fr": 1, "de": 0}]
    assert [out.segment.unknown_targets for out in driver.out] == [("nowhere",), (), ()]
    assert driver.context.counts.unknown_targets == 1


def test_routes_remember_what_was_last_sent_to_them() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", utterance_end=True, targets=("ja", "ja")))
    driver.give(event(1, "two", utterance_end=True, targets=()))
    driver.restart()
    driver.give(event(2, "three", utterance_end=True, targets=("ja",)))

    assert [out.routes for out in driver.out] == [{"ja": None}, {}, {"ja": 0}]


@pytest.mark.parametrize("ends_by", ["end", "idle"])
def test_no_word_goes_to_an_ended_route_nor_does_its_closing_record(ends_by: str) -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", utterance_end=True, targets=("de", "fr")))
    driver.give(event(1, "two three", targets=("fr",), session_end=ends_by == "end"))
    driver.wait(20_000)

    sent = {
        route: [[word.text for word in out.segment.words] for out in driver.out if route in out.routes]
        for route in ("de", "fr")
    }
    assert sent == {"de": [["one"], []], "fr": [["one"], ["two", "three"], []]}
    assert [out.segment.session_end for out in driver.out] == [False, False, True]
    assert [(out.segment.index, out.segment.first_word) for out in driver.out] == [(0, 0), (1, 1), (2, 3)]
    assert driver.out[-1].routes == {"de": 0, "fr": 1}


def test_the_last_words_close_sessions_without_ended_routes() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", targets=("de",), session_end=True))

    assert [(out.segment.session_end, len(out.segment.words), out.routes) for out in driver.out] == [
        (True, 1, {"de": None})
    ]
