"""Timers fired in isolation: announced, a few at a time, and told apart from records in what is committed."""

from __future__ import annotations

from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.worker.runtime.retries.poison_isolation import PoisonIsolation, RetryHistory, StepDecision


def _committed(isolation: PoisonIsolation, next_offset: int) -> OffsetMetadata:
    """Commit, and return the metadata of it."""
    until_offset, tries = isolation.noted(next_offset)
    isolation.committed()
    return OffsetMetadata(
        id=CheckpointId(3, 1, "0123456789abcdef"),
        replay_offset=0,
        partitions=1,
        transactional_id="caesura-0",
        topic="asr.words",
        partition=0,
        next_offset=0,
        isolated_until_offset=until_offset,
        tries=tries,
    )


def test_timers_that_fail_are_tried_thrice_with_the_engine_thrice_without_and_given_up_until_forgiven() -> None:
    history, told = RetryHistory(of_timers=True), []
    for _ in range(6):
        isolation = PoisonIsolation(history)
        told.append(isolation.decide_timers())
        metadata = _committed(isolation, 7)
        told.append(isolation.decide_timers())
        history = RetryHistory.noted(metadata, 7)  # it died over it: a new owner reads the announcement
    again = StepDecision.READ_AGAIN
    assert told == [*[again, StepDecision.APPLY] * 3, *[again, StepDecision.APPLY_UNLABELLED] * 3]
    isolation = PoisonIsolation(history)
    assert isolation.decide_timers() is StepDecision.GIVE_UP
    isolation.forgive()
    assert isolation.decide_timers() is StepDecision.READ_AGAIN
    isolation.committed()
    assert isolation.decide_timers() is StepDecision.APPLY


def test_while_a_checkpoint_is_awaited_neither_timers_nor_records_go_on() -> None:
    isolation = PoisonIsolation(RetryHistory(of_timers=True))
    assert isolation.decide_timers() is StepDecision.READ_AGAIN
    assert [isolation.decide_timers(), isolation.decide(7)] == [StepDecision.READ_AGAIN] * 2
    assert isolation.committed()  # a record was put off


def test_each_time_that_goes_well_doubles_how_many_fire_together_until_isolation_ends() -> None:
    isolation, together = PoisonIsolation(RetryHistory(of_timers=True)), []
    while isolation.of_timers:
        assert isolation.decide_timers() is StepDecision.READ_AGAIN
        isolation.committed()
        assert isolation.decide_timers() is StepDecision.APPLY
        together.append(isolation.max_timers)
        isolation.committed()
    assert together == [2**number for number in range(11)]


def test_the_tries_of_a_timer_are_never_taken_for_those_of_the_record_that_comes_next() -> None:
    isolation = PoisonIsolation(RetryHistory(until_offset=100, of_timers=True))
    isolation.decide_timers()
    history = RetryHistory.noted(_committed(isolation, 7), 7)
    assert (history.timer_tries, history.record_tries, history.of_timers) == (1, 0, True)


def test_the_tries_of_a_record_are_never_taken_for_those_of_a_timer() -> None:
    isolation = PoisonIsolation(RetryHistory(until_offset=100, of_timers=True, timer_tries=2))
    isolation.decide(7)
    history = RetryHistory.noted(_committed(isolation, 7), 7)
    assert (history.timer_tries, history.record_tries, history.until_offset) == (0, 1, 100)


def test_a_record_that_was_put_off_stops_those_behind_it_in_the_same_group() -> None:
    isolation = PoisonIsolation(RetryHistory(until_offset=100, of_timers=True))
    for next_offset, records in ((0, 1), (1, 2)):
        assert isolation.decide(next_offset) is StepDecision.READ_AGAIN
        isolation.committed()
        assert [isolation.decide(next_offset + number) for number in range(records)] == [StepDecision.APPLY] * records
        isolation.committed()
    isolation.decide(3)
    isolation.committed()
    assert isolation.decide(3) is StepDecision.APPLY
    assert isolation.decide_timers() is StepDecision.READ_AGAIN  # due before the next record, which has to wait
    isolation.put_off()
    assert isolation.stopped
    assert isolation.decide(5) is StepDecision.READ_AGAIN
