"""Repeats, gaps, late events and epochs: nothing twice, nothing silently away (docs/design.md, *Order of input*)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.codec import encode_segment
from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.segments import Gap
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.decoding.admission import OfferOutcome, PassedGap
from tests.harness.partition_driver import Driver, event, pair_segmenters
from tests.harness.speech import said


def test_a_repeat_is_dropped_by_its_number_and_counted() -> None:
    driver = Driver()
    driver.give(event(0, "yes"))

    assert driver.give(event(0, "yes")).outcome is OfferOutcome.REPEAT
    assert driver.give(event(1, "yes")).outcome is OfferOutcome.ACCEPTED

    driver.give(event(2, session_end=True))
    assert said(driver.segments) == ["yes", "yes"]
    assert driver.context.counts.repeats == 1


def test_a_repeat_changes_nothing_that_is_stored() -> None:
    driver = Driver()
    driver.give(event(0, "one two"))
    before = driver.state()
    driver.sessions.settle()

    driver.give(event(0, "one two"), after_ms=100)

    assert driver.state() == before
    assert not driver.sessions.touched


def test_a_gap_stands_in_the_segment_that_holds_the_word_after_it() -> None:
    driver = Driver()
    driver.give(event(0, "one two"))
    admission = driver.give(event(3, "three", utterance_end=True))
    driver.give(event(4, "four", session_end=True))

    assert admission.gap == PassedGap(epoch=0, first_seq=1, last_seq=2)
    assert [segment.gaps for segment in driver.segments] == [
        (Gap(epoch=0, first_seq=1, last_seq=2, before_word=2),),
        (),
    ]
    assert (driver.context.counts.gaps, driver.context.counts.missed_events) == (1, 2)


def test_a_gap_between_two_segments_stands_in_the_second() -> None:
    driver = Driver(engine=ScriptedEngine(script=marked_words))
    driver.give(event(0, "one two-stop"))
    driver.give(event(2, "three four five six seven eight nine", session_end=True))

    assert [[gap.before_word for gap in segment.gaps] for segment in driver.segments] == [[], [2]]


def test_a_gap_after_the_last_word_stands_in_the_closing_record() -> None:
    driver = Driver()
    driver.give(event(0, "one", utterance_end=True))
    driver.give(event(2, session_end=True))

    assert [segment.gaps for segment in driver.segments] == [
        (),
        (Gap(epoch=0, first_seq=1, last_seq=1, before_word=1),),
    ]


def test_a_session_whose_first_events_never_came_begins_with_a_gap() -> None:
    driver = Driver()
    driver.give(event(2, "one", session_end=True))

    assert driver.segments[0].gaps == (Gap(epoch=0, first_seq=0, last_seq=1, before_word=0),)


def test_of_very_many_gaps_the_last_that_is_told_reaches_to_the_last_that_there_was() -> None:
    driver = Driver()
    for seq in range(0, 6_000, 2):
        driver.give(event(seq))
    assert len(driver.state().output.gaps) == 64
    driver.give(event(6_000, "one", utterance_end=True))

    gaps = driver.segments[0].gaps
    assert [(gap.first_seq, gap.last_seq) for gap in gaps[:2]] == [(1, 1), (3, 3)]
    assert (gaps[-1].first_seq, gaps[-1].last_seq, gaps[-1].before_word) == (127, 5_999, 0)
    assert (len(gaps), driver.context.counts.gaps, driver.context.counts.missed_events) == (64, 3_000, 3_000)
    assert len(encode_segment(driver.segments[0])) < 10_000


def test_of_very_many_epochs_with_gaps_the_latest_are_told() -> None:
    driver = Driver()
    for epoch in range(500):
        driver.give(event(7, epoch=epoch))
    driver.give(event(8, "one", epoch=499, utterance_end=True))

    assert [gap.epoch for gap in driver.segments[0].gaps] == list(range(436, 500))


def test_what_lies_on_either_side_of_a_gap_is_never_joined_to_one_word() -> None:
    driver = Driver(segmenters=pair_segmenters)
    driver.give(event(0, "one"))
    driver.give(event(2, "two", session_end=True))

    assert driver.requests[-1].words == ("one", "two")
    assert [gap.before_word for segment in driver.segments for gap in segment.gaps] == [1]


def test_an_event_that_comes_after_its_gap_was_passed_is_late() -> None:
    driver = Driver()
    driver.give(event(0, "one"))
    driver.give(event(2, "three"))

    late = driver.give(event(1, "two"))

    assert (late.outcome, late.reason) == (OfferOutcome.REFUSED, DeadLetterReason.LATE)
    assert driver.give(event(1, "two")).reason is DeadLetterReason.LATE
    assert driver.give(event(0, "one")).outcome is OfferOutcome.REPEAT


def test_a_higher_epoch_counts_from_zero_again_and_a_lower_one_is_stale() -> None:
    driver = Driver()
    driver.give(event(7, "one"))

    assert driver.give(event(0, "two", epoch=2)).gap is None
    assert driver.give(event(8, "three")).reason is DeadLetterReason.STALE_EPOCH
    assert driver.give(event(1, "four", epoch=2)).gap is None
    assert driver.give(event(3, "five", epoch=2)).gap == PassedGap(epoch=2, first_seq=2, last_seq=2)


def test_after_more_gaps_than_are_kept_a_late_event_is_still_not_taken_for_a_repeat() -> None:
    driver = Driver()
    for seq in range(0, 400, 2):
        driver.give(event(seq, "word"))

    assert driver.give(event(1, "word")).reason is DeadLetterReason.LATE
    assert driver.give(event(397, "word")).reason is DeadLetterReason.LATE
    assert len(driver.state().admission.missed) < 100


@given(st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=8))
def test_in_any_order_every_event_is_applied_refused_or_known_as_a_repeat(order: list[int], again: list[int]) -> None:
    driver = Driver()
    applied: set[int] = set()
    refused: set[int] = set()
    for seq in [*order, *again]:
        admission = driver.give(event(seq, f"w{seq}"))
        if admission.outcome is OfferOutcome.ACCEPTED:
            assert seq not in applied | refused
            applied.add(seq)
        elif admission.outcome is OfferOutcome.REPEAT:
            assert seq in applied
        else:
            assert seq not in applied
            refused.add(seq)

    driver.give(event(8, session_end=True))
    assert said(driver.segments) == [f"w{seq}" for seq in sorted(applied)]
    passed = {
        seq for segment in driver.segments for gap in segment.gaps for seq in range(gap.first_seq, gap.last_seq + 1)
    }
    assert passed == set(range(8)) - applied
