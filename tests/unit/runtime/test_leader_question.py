"""The question to a partition's leader: what its answer makes of the time, and what it makes nothing of."""

from __future__ import annotations

from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.ports.records import EndAnswer
from caesura.worker.runtime.ledger.leader_question import LeaderQuestion
from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.harness.in_memory_world import ManualClock

_READ_TO = 7


def _at_the_end() -> tuple[LeaderQuestion, PartitionTime, ManualClock]:
    """Return a question, not asked yet, as reading meets the end at offset 7."""
    clock, time = ManualClock(), PartitionTime(max_skew_ms=0, start_ms=1_000)
    question = LeaderQuestion(time, clock, RuntimeSettings(replication_ms=50))
    time.reached_end(clock.monotonic_s())
    return question, time, clock


def _asked() -> tuple[LeaderQuestion, PartitionTime, ManualClock]:
    """Return a question that was asked three seconds after reading met the end."""
    question, time, clock = _at_the_end()
    clock.pass_s(3.0)
    assert question.ask(2_000)
    return question, time, clock


def _answer(*, at_end: bool | None, next_offset: int = _READ_TO) -> EndAnswer:
    return EndAnswer(partition=0, next_offset=next_offset, at_end=at_end)


def test_an_answer_that_nothing_more_is_there_brings_the_time_of_the_question_and_no_later_one() -> None:
    question, time, clock = _asked()
    clock.pass_s(5.0)
    question.answered(_answer(at_end=True), _READ_TO)
    assert time.now_ms == 3_950


def test_an_answer_to_a_question_for_an_older_end_says_nothing() -> None:
    question, time, _ = _asked()
    question.answered(_answer(at_end=True), _READ_TO + 1)
    assert time.now_ms == 1_000


def test_an_answer_that_comes_after_something_was_read_says_nothing() -> None:
    question, time, _ = _asked()
    time.left_end()
    question.answered(_answer(at_end=True), _READ_TO)
    assert time.now_ms == 1_000


def test_an_answer_that_more_is_there_or_none_at_all_brings_no_time() -> None:
    for at_end in (False, None):
        question, time, _ = _asked()
        question.answered(_answer(at_end=at_end), _READ_TO)
        assert time.now_ms == 1_000
        assert time.is_at_end is (at_end is None)


def test_a_leader_that_hides_what_its_replicas_lack_is_asked_again_sooner_than_one_that_did_not_answer() -> None:
    settings = RuntimeSettings()
    for failure, waits_s in (("", settings.commit_interval_ms / 1000), ("no answer", 0.5)):
        question, _, clock = _asked()
        question.answered(EndAnswer(partition=0, next_offset=_READ_TO, at_end=None, failure=failure), _READ_TO)
        clock.pass_s(waits_s - 0.01)
        assert not question.ask(2_000)
        clock.pass_s(0.02)
        assert question.ask(2_000)


def test_a_leader_is_asked_so_much_later_that_what_it_has_stamped_is_replicated() -> None:
    question, _, clock = _at_the_end()
    clock.pass_s(1.045)
    assert not question.ask(2_000)
    clock.pass_s(0.006)
    assert question.ask(2_000)
