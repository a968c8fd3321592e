"""Timers wait for their partition's leader; leaders that do not answer hold up neither the loop nor the others."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping

import pytest

from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import BrokerError
from caesura.worker.ports.records import EndAnswer
from caesura.worker.runtime.partition.partition_timers import LeaderQuestion
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.log import make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver
from tests.harness.in_memory_world import InMemoryWorker, ManualClock, World
from tests.harness.speech import by_session, event, said

PARTITIONS = 20
SILENCE_S = 5.0
"""Longer than the silence after which a buffer is flushed."""
TURN_S = 0.02


class Leaders:
    """Twenty partitions in which somebody fell silent, and whose leader's answers are on their way."""

    def __init__(self) -> None:
        self.world = World(partitions=PARTITIONS)
        self.health = Health(self.world.clock.monotonic_s)
        observer = TelemetryObserver(log=make_log(io.StringIO()), metrics=Metrics(), health=self.health)
        self.worker: InMemoryWorker = self.world.worker(observer=observer)
        self.names = one_session_a_partition()
        self.worker.turn(3)
        self.speak(0, self.names.values())

    def slow(self, partitions: Iterable[int]) -> None:
        self.worker.source.slow_leaders = set(partitions)

    def fail(self, times: int) -> None:
        """Have so many questions come to nothing."""
        for _ in range(times):
            self.world.broker.fail("ask_ends", BrokerError("no answer in time"))

    def speak(self, seq: int, names: Iterable[str]) -> None:
        """Have sessions say a word, and fall silent for longer than their timers allow."""
        self.world.send(*(event(name, seq, f"word-{seq}") for name in names))
        self.worker.turn(8)
        self.world.clock.pass_s(SILENCE_S)

    def turn(self, times: int) -> float:
        """Turn so often; return how long that took at most."""
        longest_s = 0.0
        for _ in range(times):
            began_s = self.world.clock.monotonic_s()
            self.worker.turn()
            longest_s = max(longest_s, self.world.clock.monotonic_s() - began_s)
        return longest_s

    @property
    def flushed(self) -> Mapping[str, list[str]]:
        return {name: said(found) for name, found in by_session(self.world.segments()).items()}


def one_session_a_partition() -> dict[int, str]:
    names: dict[int, str] = {}
    number = 0
    while len(names) < PARTITIONS:
        name = f"ann-{number}"
        names.setdefault(murmur2_partition(name.encode(), PARTITIONS), name)
        number += 1
    return names


def test_leaders_that_never_answer_leave_every_turn_short_and_fire_nothing() -> None:
    leaders = Leaders()
    leaders.slow(range(PARTITIONS))
    assert leaders.turn(200) <= TURN_S + 0.001
    assert leaders.health.why_not_alive() == ()
    assert leaders.flushed == {}


def test_leaders_that_are_away_leave_the_worker_alive_and_not_ready() -> None:
    leaders = Leaders()
    leaders.fail(PARTITIONS)
    assert leaders.turn(3) <= TURN_S + 0.001
    assert "leader: BrokerError" in leaders.health.why_not_ready()
    assert leaders.flushed == {}


def test_leaders_that_are_back_have_every_timer_fired_and_the_worker_ready() -> None:
    leaders = Leaders()
    leaders.fail(3 * PARTITIONS)
    leaders.turn(120)
    assert leaders.flushed == {name: ["word-0"] for name in leaders.names.values()}
    assert leaders.health.why_not_ready() == ()


@pytest.mark.parametrize("away", [{0}, {19}, {0, 1, 2, 3, 4, 10, 11, 12, 19}])
def test_partitions_with_leaders_get_their_timers_where_others_wait(away: set[int]) -> None:
    leaders = Leaders()
    leaders.slow(away)
    others = {name for partition, name in leaders.names.items() if partition not in away}
    for seq in (1, 2):
        leaders.turn(12)
        assert leaders.flushed == {name: [f"word-{number}" for number in range(seq)] for name in others}
        leaders.speak(seq, others)


def test_an_answer_that_was_lost_is_asked_for_again() -> None:
    leaders = Leaders()
    leaders.slow({0})
    leaders.turn(5)
    leaders.worker.source.seek(0, leaders.worker.worker.assignment.loaded[0].next_offset)  # it voids the question
    leaders.slow(())
    leaders.turn(400)
    assert leaders.flushed[leaders.names[0]] == ["word-0"]


def test_one_leader_question_serves_all_due_sessions() -> None:
    world = World()
    asked = 0
    worker = world.worker()
    ask = worker.source.ask_ends

    def counted(next_offsets: Mapping[int, int], timeout_s: float) -> None:
        nonlocal asked
        asked += len(next_offsets)
        ask(next_offsets, timeout_s)

    worker.source.ask_ends = counted  # type: ignore[method-assign]
    worker.turn(3)
    world.send(*(event(f"ann-{number}", 0, "a", "word") for number in range(50)))
    worker.turn(8)
    world.clock.pass_s(SILENCE_S)
    worker.turn(20)
    assert len(by_session(world.segments())) == 50
    assert asked == 1


def test_a_standing_crowd_of_timers_in_one_partition_starves_no_other() -> None:
    world = World(partitions=2, rules=DecodingRules(flush_after_ms=800, routes=frozenset({"de"})))
    worker = world.worker(max_poll_records=8)
    worker.turn(5)
    crowd = [name for number in range(400) if murmur2_partition((name := f"ann-{number}").encode(), 2) == 0][:150]
    alone = next(name for number in range(99) if murmur2_partition((name := f"ben-{number}").encode(), 2) == 1)
    world.send(*(event(name, 0, "a", "word") for name in crowd), event(alone, 0, "a", "word"))
    worker.turn(30)
    world.clock.pass_s(SILENCE_S)
    worker.turn(4)
    flushed = by_session(world.segments())
    worker.turn(6)
    flushed = by_session(world.segments())
    assert alone in flushed
    assert len(flushed) < 100, "the crowd was not a crowd"


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


def test_an_answer_of_nothing_more_brings_the_questions_time() -> None:
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


def test_a_leader_with_lagging_replicas_is_asked_again_sooner() -> None:
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
