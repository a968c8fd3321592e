"""Open, closed, ended, forgotten: how a session ends, and how it comes back (docs/design.md, *End of a session*)."""

from __future__ import annotations

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.segments import Cause, Gap
from caesura.schemas.state import SessionStatus
from caesura.worker.core.decoding.admission import OfferOutcome
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from tests.harness.partition_driver import MARKED, Driver, event
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


def test_what_comes_after_the_end_is_refused_in_any_epoch_and_even_without_words() -> None:
    driver = Driver()
    driver.give(event(0, "one", session_end=True))

    assert driver.give(event(1, "two")).reason is DeadLetterReason.SESSION_ENDED
    assert driver.give(event(2)).reason is DeadLetterReason.SESSION_ENDED
    assert driver.give(event(0, "two", epoch=1)).reason is DeadLetterReason.SESSION_ENDED


def test_an_idle_session_is_closed_with_a_record_and_its_text_is_gone_from_its_state() -> None:
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


def test_a_session_that_speaks_again_goes_on_counting_with_an_empty_buffer_and_a_new_sentence() -> None:
    driver = Driver(rules=RULES, engine=MARKED)
    driver.give(event(0, "one"))
    driver.wait(20_000)
    driver.give(event(1, "two", utterance_end=True))

    again = driver.segments[-1]
    assert (again.index, again.first_word, again.sentence, again.sentence_start) == (2, 1, 1, True)
    assert driver.requests[-1].words == ("two",)
    assert (driver.state().admission.status, driver.state().admission.closed_ms) == (SessionStatus.OPEN, None)
    assert driver.context.counts.reopened == 1


def test_events_without_words_neither_reopen_a_closed_session_nor_keep_it_remembered() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one"))
    driver.wait(20_000)
    for seq in range(1, 7):
        assert driver.state().admission.status is SessionStatus.CLOSED
        driver.give(event(seq), after_ms=9_999)
    driver.wait(6)

    assert driver.states(["s"]) == {"s": None}


def test_a_session_of_nothing_but_events_without_words_is_closed_and_forgotten_too() -> None:
    driver = Driver(rules=RULES)
    for seq in range(16):
        driver.give(event(seq), after_ms=5_000)
    driver.wait(5_000)

    assert [(one.cause, one.session_end, one.words) for one in driver.segments] == [(Cause.IDLE, True, ())]
    assert driver.states(["s"]) == {"s": None}


def test_a_session_that_goes_on_after_it_was_forgotten_is_another_one_that_misses_all_before() -> None:
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


def test_a_closed_session_is_forgotten_as_a_tombstone_that_goes_when_it_is_settled() -> None:
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


def test_a_name_taken_again_before_the_old_sessions_work_is_done_loses_none_of_it() -> None:
    driver = Driver(rules=RULES, lazy=True)
    driver.give(event(0, "one two"))
    driver.wait(20_000 + 60_000)
    driver.give(event(0, "three", session_end=True))
    driver.work()

    assert said(driver.segments) == ["one", "two", "three"]
    assert [one.since for one in driver.segments] == [0, 0, 1]
    assert not driver.sessions.is_busy


def test_what_passes_through_is_the_latest_given() -> None:
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
