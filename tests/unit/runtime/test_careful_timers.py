"""Timers fired with care: announced, a few at a time, and told apart from records in what is committed."""

from __future__ import annotations

from schemas.checkpoint import CheckpointId, OffsetMetadata
from worker.runtime.poison_isolation import PoisonIsolation, RetryHistory, StepDecision


def _committed(caution: PoisonIsolation, next_offset: int) -> OffsetMetadata:
    """Commit, and return the metadata of it."""
    until_offset, tries = caution.noted(next_offset)
    caution.committed()
    return OffsetMetadata(
        id=CheckpointId(3, 1, "0123456789abcdef"),
        replay_offset=0,
        partitions=1,
        transactional_id="caesura-0",
        careful_until_offset=until_offset,
        tries=tries,
    )


def test_timers_that_fail_are_tried_thrice_with_the_engine_thrice_without_and_given_up_until_forgiven() -> None:
    care, told = RetryHistory(of_timers=True), []
    for _ in range(6):
        caution = PoisonIsolation(care)
        told.append(caution.advise_timers())
        metadata = _committed(caution, 7)
        told.append(caution.advise_timers())
        care = RetryHistory.noted(metadata, 7)  # it died over it: a new owner reads the announcement
    again = StepDecision.READ_AGAIN
    assert told == [*[again, StepDecision.APPLY] * 3, *[again, StepDecision.APPLY_UNLABELLED] * 3]
    caution = PoisonIsolation(care)
    assert caution.advise_timers() is StepDecision.GIVE_UP
    caution.forgive()
    assert caution.advise_timers() is StepDecision.READ_AGAIN
    caution.committed()
    assert caution.advise_timers() is StepDecision.APPLY


def test_while_a_checkpoint_is_awaited_neither_timers_nor_records_go_on() -> None:
    caution = PoisonIsolation(RetryHistory(of_timers=True))
    assert caution.advise_timers() is StepDecision.READ_AGAIN
    assert [caution.advise_timers(), caution.advise(7)] == [StepDecision.READ_AGAIN] * 2
    assert caution.committed()  # a record was put off


def test_each_time_that_goes_well_doubles_how_many_fire_together_until_care_ends() -> None:
    caution, together = PoisonIsolation(RetryHistory(of_timers=True)), []
    while caution.of_timers:
        assert caution.advise_timers() is StepDecision.READ_AGAIN
        caution.committed()
        assert caution.advise_timers() is StepDecision.APPLY
        together.append(caution.max_timers)
        caution.committed()
    assert together == [2**number for number in range(11)]


def test_the_tries_of_a_timer_are_never_taken_for_those_of_the_record_that_comes_next() -> None:
    caution = PoisonIsolation(RetryHistory(until_offset=100, of_timers=True))
    caution.advise_timers()
    care = RetryHistory.noted(_committed(caution, 7), 7)
    assert (care.timer_tries, care.record_tries, care.of_timers) == (1, 0, True)


def test_the_tries_of_a_record_are_never_taken_for_those_of_a_timer() -> None:
    caution = PoisonIsolation(RetryHistory(until_offset=100, of_timers=True, timer_tries=2))
    caution.advise(7)
    care = RetryHistory.noted(_committed(caution, 7), 7)
    assert (care.timer_tries, care.record_tries, care.until_offset) == (0, 1, 100)


def test_a_record_that_was_put_off_stops_those_behind_it_in_the_same_group() -> None:
    caution = PoisonIsolation(RetryHistory(until_offset=100, of_timers=True))
    for next_offset, records in ((0, 1), (1, 2)):
        assert caution.advise(next_offset) is StepDecision.READ_AGAIN
        caution.committed()
        assert [caution.advise(next_offset + number) for number in range(records)] == [StepDecision.APPLY] * records
        caution.committed()
    caution.advise(3)
    caution.committed()
    assert caution.advise(3) is StepDecision.APPLY
    assert caution.advise_timers() is StepDecision.READ_AGAIN  # due before the next record, which has to wait for them
    caution.put_off()
    assert caution.stopped
    assert caution.advise(5) is StepDecision.READ_AGAIN
