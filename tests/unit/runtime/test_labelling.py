"""Who is labelled when: a session that floods is served last and told of, a drain ends at its deadline.

And who is not: the session that an inference fails on, again and again, alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec
import pytest
from typing_extensions import override

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.codec import encode_event
from caesura.schemas.events import Emission
from caesura.schemas.labels import Labels
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.broker import MemoryMembership
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.memory.publisher import MemoryTentativePublisher
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.observer import EngineFailed, Event, SessionsFlooding, SilentObserver
from caesura.worker.ports.publisher import Publisher
from caesura.worker.runtime.loop.gathering import Gathering
from tests.harness.engines import FaultyEngine, RaisingEngine
from tests.harness.in_memory_world import InMemoryWorker, ManualClock, World
from tests.harness.speech import by_session, check_every_word_once, comparable, event, said, speech
from tests.harness.unsure import Plan, UnsurePublisher

_PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)


class _Floods(SilentObserver):
    def __init__(self) -> None:
        self.told: list[dict[str, int]] = []

    def note(self, event: Event) -> None:
        if isinstance(event, SessionsFlooding) and event.queued_words:
            self.told.append(dict(event.queued_words))


_TALKS = {name: speech(name, 40) for name in ("ann", "ben", "cy", "dee")}
_TOGETHER = [one for together in zip(*_TALKS.values(), strict=True) for one in together]
"""Events of four sessions by turns, so that they are labelled in one batch."""


def _spoken(engine: ScriptedEngine) -> World:
    world = World(rules=_PATIENT)
    world.send(*_TOGETHER, timestamp_ms=world.clock.wall_ms())
    world.worker(engine=engine).settle()
    check_every_word_once(_TOGETHER, world.segments())
    return world


def test_a_session_whose_inference_always_fails_goes_out_unlabelled_alone() -> None:
    engine = RaisingEngine(sys.maxsize, of="ben")
    disturbed, undisturbed = by_session(_spoken(engine).segments()), by_session(_spoken(ScriptedEngine()).segments())
    assert engine.sizes[:3] == [4, 1, 1]
    unlabelled = disturbed.pop("ben")
    assert {one.cause for one in unlabelled} == {Cause.FALLBACK, Cause.END}
    assert {(word.punctuation, word.disfluency) for one in unlabelled for word in one.words} == {("none", "O")}
    assert [one.cause for one in unlabelled if one.words] == [Cause.FALLBACK] * (len(unlabelled) - 1)
    for name, segments in disturbed.items():
        assert comparable(segments) == comparable(undisturbed[name]), name


def test_a_failed_inference_is_reported_with_its_reason() -> None:
    told: list[str] = []

    class Listener(SilentObserver):
        @override
        def note(self, event: Event) -> None:
            if isinstance(event, EngineFailed):
                told.append(event.detail)

    world = World(rules=_PATIENT)
    world.send(*_TOGETHER)
    world.worker(engine=RaisingEngine(2, of="ben"), observer=Listener()).settle()
    assert told == ["told to raise", "told to raise"]


@pytest.mark.parametrize("times", [1, 2])
def test_an_inference_that_fails_twice_costs_no_label(times: int) -> None:
    engine = RaisingEngine(times, of="ben")
    assert comparable(_spoken(engine).segments()) == comparable(_spoken(ScriptedEngine()).segments())
    assert engine.sizes == [4, 1][:times]


def test_a_failed_batch_releases_its_memory_before_sessions_run_alone() -> None:
    held: list[bool] = []

    class Watched(RaisingEngine):
        @override
        def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
            held.append(sys.exc_info()[1] is not None)
            return super().label(requests)

    _spoken(Watched(1, of="ben"))
    assert not any(held)


def test_a_session_that_fails_twice_alone_is_unlabelled_once() -> None:
    segments = by_session(_spoken(RaisingEngine(3, of="ben")).segments())["ben"]
    assert [one.cause == Cause.FALLBACK for one in segments] == [True] + [False] * (len(segments) - 1)
    assert {word.punctuation for one in segments[1:] for word in one.words} > {"none"}


def test_only_the_session_that_floods_is_reported() -> None:
    world = World(rules=_PATIENT)
    events = [*speech("floods", 400, a_time=10), *speech("talks", 40, a_time=10)]
    world.send(*events)
    heard = _Floods()
    world.worker(observer=heard).settle()
    assert [set(told) for told in heard.told] == [{"floods"}]
    assert heard.told[0]["floods"] > 300
    check_every_word_once(events, world.segments())


def test_a_long_drain_ends_and_leaves_the_rest_to_the_next_owner() -> None:
    world = World(rules=_PATIENT)
    batch_s = 0.0
    engine = FaultyEngine(lambda _: world.clock.pass_s(batch_s))
    first = world.worker(0, engine=engine, drain_deadline_s=20.0, commit_interval_ms=60_000)
    first.turn(5)
    events = speech("ann", 200, a_time=10)
    world.send(*events)
    batch_s = 3.0
    for record in first.source.poll(1000, 0.0):
        first.worker._polling._take(record, 1000)
    began_s = world.clock.monotonic_s()
    first.worker.drain()
    assert world.clock.monotonic_s() - began_s < 20.0 + 3.0 + 1.0
    assert world.segments() == []
    second = world.worker(1)
    second.settle()
    check_every_word_once(events, world.segments())


def test_a_drain_in_time_publishes_what_was_read() -> None:
    world = World(rules=_PATIENT)
    first = world.worker(0, commit_interval_ms=60_000)
    first.turn(5)
    world.send(event("ann", 0, "good", "morning", session_end=True))
    first.turn(2)
    assert world.segments() == []
    first.worker.drain()
    assert said(world.segments()) == ["good", "morning"]


_WORDS = 15
_SESSIONS = 300
"""More than a chunk of a rebuild reads."""


class _Keeping(ScriptedEngine):
    """kept: of whom it would keep rows."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: set[str] = set()

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.kept |= {one.session for one in requests}
        return super().label(requests)

    @override
    def forget(self, session: str) -> None:
        self.kept.discard(session)


def test_a_partition_let_go_during_its_rebuild_leaves_no_engine_state() -> None:
    patient = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
    world = World(rules=patient)
    for number in range(_SESSIONS):
        world.send(*speech(f"s{number}", _WORDS, a_time=_WORDS, end=False, emission=Emission.SENTENCE))
    first = world.worker()
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    engine = _Keeping()
    second = world.worker(1, engine=engine)
    while not engine.kept:
        second.turn()
    assert second.worker.assignment.rebuilding
    second.worker.assignment.on_lost([0])
    assert engine.kept == set()


_FIVE_TALKS = [speech(name, 30, a_time=3) for name in ("ann", "ben", "cy", "dee", "eve")]


class _TimedEngine(ScriptedEngine):
    """Notes when each pass begins; each takes so long."""

    def __init__(self, clock: ManualClock, took_s: float = 0.0) -> None:
        super().__init__()
        self._clock = clock
        self._took_s = took_s
        self.passes_s: list[float] = []

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.passes_s.append(self._clock.monotonic_s())
        self._clock.pass_s(self._took_s)
        return super().label(requests)


def _gathering(longest_s: float = 0.1) -> tuple[Gathering, ManualClock]:
    clock = ManualClock()
    return Gathering(clock=clock, most_records=8, longest_s=longest_s), clock


def test_the_first_to_come_waits_no_longer_than_it_is_told() -> None:
    gathering, clock = _gathering()
    assert not gathering.is_over(1, at_most=100)
    clock.pass_s(0.06)
    assert not gathering.is_over(2, at_most=100)
    clock.pass_s(0.06)
    assert gathering.is_over(0, at_most=100)
    gathering.labelled(took_s=0.01)
    assert not gathering.is_over(0, at_most=100), "nothing waits"
    assert not gathering.is_over(1, at_most=100), "who comes now has not waited yet"


@pytest.mark.parametrize(("most", "at_most"), [(8, 100), (3, 3)])
def test_a_full_batch_or_a_full_turn_waits_for_nothing(most: int, at_most: int) -> None:
    gathering, _ = _gathering()
    assert not gathering.is_over(most - 1, at_most=at_most)
    assert gathering.is_over(1, at_most=at_most)


def test_sessions_that_may_not_wait_are_labelled_at_once() -> None:
    gathering, _ = _gathering(longest_s=0.0)
    assert gathering.is_over(1, at_most=100)


@pytest.mark.parametrize(("took_s", "begins_s"), [(0.0, 0.1), (0.03, 0.07), (5.0, 0.05)])
def test_labelling_begins_so_early_that_the_checkpoint_is_in_time(took_s: float, begins_s: float) -> None:
    gathering, clock = _gathering()
    gathering.labelled(took_s=took_s)
    clock.pass_s(begins_s - 0.001)
    assert gathering.left_s(0.0, 0.1) > 0
    clock.pass_s(0.002)
    assert gathering.left_s(0.0, 0.1) < 0


def _gathered(gather_ms: int) -> tuple[World, list[int]]:
    """Let five sessions speak by turns, one event a turn of the loop."""
    world, engine = World(rules=_PATIENT), FaultyEngine(lambda _: None)
    worker = world.worker(engine=engine, gather_ms=gather_ms)
    worker.turn(3)
    for together in zip(*_FIVE_TALKS, strict=True):
        for one in together:
            world.send(one, timestamp_ms=world.clock.wall_ms())
            worker.turn()
    worker.settle()
    check_every_word_once([one for talk in _FIVE_TALKS for one in talk], world.segments())
    return world, engine.batch_sizes


def test_words_that_come_one_after_another_are_labelled_together() -> None:
    (alone, one_by_one), (together, gathered) = _gathered(0), _gathered(100)
    assert comparable(together.segments()) == comparable(alone.segments())
    assert max(one_by_one) == 1
    assert sum(gathered) == sum(one_by_one)
    assert len(gathered) <= len(one_by_one) / 3


def _live(
    gather_ms: int, *, every_s: float = 0.01, commit_interval_ms: int = 100, took_s: float = 0.0
) -> tuple[World, list[float], list[float]]:
    """Let a session say a hundred events, one after another; return when turns began, and when passes."""
    world, turns_s = World(rules=_PATIENT), list[float]()
    engine = _TimedEngine(world.clock, took_s)
    worker = world.worker(engine=engine, gather_ms=gather_ms, commit_interval_ms=commit_interval_ms)
    worker.turn(3)
    began_s = world.clock.monotonic_s()
    talk = speech("ann", 300, a_time=3)
    waiting = [(began_s + every_s * place, event) for place, event in enumerate(talk)]
    end_s = waiting[-1][0] + 1.0

    def stopping() -> bool:
        turns_s.append(world.clock.monotonic_s())
        while waiting and waiting[0][0] <= turns_s[-1]:
            world.send(waiting.pop(0)[1], timestamp_ms=world.clock.wall_ms())
        return turns_s[-1] > end_s

    worker.worker.run(stopping)
    check_every_word_once(talk, world.segments())
    return world, turns_s, engine.passes_s


def test_between_two_checkpoints_the_loop_rests_and_says_the_same() -> None:
    (hasty, many, _), (rested, few, _) = _live(0, took_s=0.001), _live(100, took_s=0.025)
    assert comparable(rested.segments()) == comparable(hasty.segments())
    assert len(few) < 0.8 * len(many)


@pytest.mark.parametrize(("gather_ms", "every_s"), [(100, 0.01), (4_000, 0.01), (4_000, 0.3)])
def test_however_long_words_may_wait_they_are_labelled_for_the_next_checkpoint(gather_ms: int, every_s: float) -> None:
    _, _, passes_s = _live(gather_ms, every_s=every_s)
    times_s = sorted({round(at_s, 6) for at_s in passes_s})[:8]
    assert len(times_s) == 8
    between_s = [later - earlier for earlier, later in pairwise(times_s)]
    assert max(between_s) < 0.13 + every_s, "an interval, a turn that reads what has changed, and the next event"


def test_frozen_words_are_committed_at_once_under_low_load() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    worker.settle()
    for seq in range(5):
        world.clock.pass_s(0.4)
        world.send(event("ann", seq, "yes", utterance_end=True))
        worker.turn()
        assert len(world.segments()) == seq + 1


def _commits_after_s(world: World, worker: InMemoryWorker, *, at_most_s: float = 2.0) -> float:
    """Turn until something is committed; return how long that took."""
    before, began_s = world.broker.last_committed("caesura", "asr.words", 0), world.clock.now_s
    while world.broker.last_committed("caesura", "asr.words", 0) == before:
        worker.turn()
        assert world.clock.now_s - began_s < at_most_s
    return world.clock.now_s - began_s


def test_offsets_that_move_alone_are_committed_once_a_second() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    worker.settle()
    heard = []
    for seq in range(3):
        world.send(event("ann", seq, "so"))
        heard.append(_commits_after_s(world, worker))
    assert heard == pytest.approx([1.05] * 3, abs=0.05)


def test_words_that_freeze_are_not_held_back_by_offsets_that_wait() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    worker.settle()
    for seq in range(4):
        world.send(event("ann", 2 * seq, "so"))
        worker.turn(10)  # 0.2 s: its offset waits
        world.send(event("ann", 2 * seq + 1, "so", utterance_end=True))
        assert _commits_after_s(world, worker) <= 0.1
        assert len(world.segments()) == seq + 1


def _refused(world: World) -> None:
    world.broker.append("asr.words", 0, b"\xc1nonsense", key=b"ann")


@pytest.mark.parametrize(
    "send",
    [
        pytest.param(_refused, id="a dead letter"),
        pytest.param(lambda world: world.send(event("ann", 1, session_end=True)), id="an end without words"),
        pytest.param(lambda world: world.send(event("ann", 1, "so", session_end=True)), id="an end"),
    ],
)
def test_what_a_reader_waits_for_is_committed_within_the_interval(send: Callable[[World], None]) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    world.send(event("ann", 0, "so"))
    worker.settle()
    world.clock.pass_s(5.0)
    send(world)
    assert _commits_after_s(world, worker) <= 0.12


def test_a_first_start_commits_its_offset_within_the_interval() -> None:
    world = World()
    assert _commits_after_s(world, world.worker()) <= 0.2


def test_a_partition_that_parks_says_so_within_the_interval() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    worker.settle()
    newer = {**msgspec.msgpack.decode(encode_event(event("ann", 1, "two"))), "version": "2.0"}
    world.send(event("ann", 0, "so"))
    world.broker.append("asr.words", 0, msgspec.msgpack.encode(newer), key=b"ann")
    began_s = world.clock.now_s
    while not worker.worker.assignment.parked:
        worker.turn()
    assert world.clock.now_s - began_s <= 0.2


def test_unfrozen_words_do_not_wait_for_offsets_that_move_alone() -> None:
    world, heard = World(rules=_PATIENT), MemoryTentativePublisher()
    worker = world.worker(tentative=heard, tentative_topic="asr.tentative")
    worker.settle()
    world.send(event("ann", 0, "so"))
    worker.turn(8)
    assert len(heard.records) == 1


def test_slow_checkpoints_do_not_shorten_gathering() -> None:
    (quick, _, _), (slow, _, _) = _live(100), _live(100, took_s=0.025)
    assert comparable(quick.segments()) == comparable(slow.segments())
    assert _checkpoints(slow) < 0.75 * _checkpoints(quick)


def test_after_a_checkpoint_that_did_not_commit_the_next_waits_for_the_interval() -> None:
    world, publishers = World(rules=_PATIENT), list[UnsurePublisher]()

    def around(sure: Publisher) -> Publisher:
        publishers.append(UnsurePublisher(sure))
        return publishers[-1]

    worker = world.worker(around=around)
    worker.settle()
    publishers[0].plans = [Plan.ABORTS] * 3
    world.send(event("ann", 0, "yes", utterance_end=True))
    tried_s = list[float]()
    while len(publishers[0].plans) > 0:
        before = len(publishers[0].plans)
        worker.turn()
        if len(publishers[0].plans) < before:
            tried_s.append(world.clock.monotonic_s())
    worker.settle()
    assert min(later - earlier for earlier, later in pairwise(tried_s)) >= 0.1
    assert len(world.segments()) == 1


def _checkpoints(world: World) -> int:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    metadata = OffsetMetadata.decode(committed.metadata if committed else "")
    assert metadata is not None
    return metadata.id.n


def test_rebalances_timers_and_answers_do_not_wait_for_a_checkpoint() -> None:
    _, turns_s, _ = _live(4_000, commit_interval_ms=4_000)
    assert max(later - earlier for earlier, later in pairwise(turns_s)) < 0.05


def test_a_backlog_is_read_without_rest() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(gather_ms=100, max_poll_records=1)
    worker.turn(3)
    talk = speech("ann", 150, a_time=3)
    for one in talk:
        world.send(one, timestamp_ms=world.clock.wall_ms())
    began_s = world.clock.monotonic_s()
    ended: list[float] = []

    def stopping() -> bool:
        if not ended and sum(len(one.words) for one in world.segments()) == 150:
            ended.append(world.clock.monotonic_s())
        return bool(ended) or world.clock.monotonic_s() > began_s + 60

    worker.worker.run(stopping)
    check_every_word_once(talk, world.segments())
    assert ended[0] - began_s < len(talk) * 0.005


def test_a_worker_expelled_from_the_group_is_unready_in_100_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    worker.settle()
    assert worker.worker.unready() == ()
    gone = MemoryMembership(group_id="caesura", member_id="", generation=-1)
    monkeypatch.setattr(worker.source, "membership", lambda: gone)
    world.clock.pass_s(0.11)
    assert worker.worker.unready() == ("not a member of the group yet",)


@pytest.mark.parametrize(
    ("took_s", "due_in_s", "rest_s"),
    [(0.005, math.inf, 0.02), (0.005, 0.012, 0.012), (0.03, math.inf, 0.0), (0.005, -0.1, 0.0)],
)
def test_a_turn_begins_at_its_time_or_when_a_checkpoint_is_due(took_s: float, due_in_s: float, rest_s: float) -> None:
    gathering = Gathering(clock=ManualClock(), most_records=8, longest_s=0.1, turn_s=0.025)
    assert gathering.rest_s(took_s, due_in_s) == pytest.approx(rest_s)
