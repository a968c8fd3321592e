"""The worker on twins: words in, frozen segments out, once, whatever becomes of partitions and processes."""

from __future__ import annotations

import io
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.codec import encode_event
from caesura.schemas.segments import Segment
from caesura.worker.adapters.memory.broker import Call
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import AbortableError, BrokerError, FatalError, FencedError, StoreError
from caesura.worker.ports.observer import BatchLabelled, CallFailed, Event, SilentObserver
from caesura.worker.runtime.loop.polling import PollBudget
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.log import make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver
from tests.harness.crashing import Crash
from tests.harness.heard import Heard
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import by_session, check_every_word_once, event, said, speech, untimed


class Labelled(SilentObserver):
    """Counts the sessions that were labelled."""

    seen = 0

    def note(self, event: Event) -> None:
        if isinstance(event, BatchLabelled):
            self.seen += event.sessions


PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)
NOON_MS = 1_700_000_000_000


def test_every_word_comes_out_once_and_in_order() -> None:
    world = World(partitions=3)
    events = [one for name in ("ann", "ben", "cy", "dee") for one in speech(name, 41)]
    world.send(*events)
    worker = world.worker()
    worker.settle()
    check_every_word_once(events, world.segments())


def test_a_hand_over_changes_no_label() -> None:
    events = [one for name in ("ann", "ben") for one in speech(name, 50)]
    alone, handed = World(rules=PATIENT), World(rules=PATIENT)
    alone.send(*events, timestamp_ms=NOON_MS)
    alone.worker().settle()
    for ordinal, start in enumerate(range(0, len(events), 5)):
        handed.send(*events[start : start + 5], timestamp_ms=NOON_MS)
        worker = handed.worker(ordinal)
        worker.settle()
        worker.worker.drain()
    assert untimed(_bare(alone)) == untimed(_bare(handed))


def test_a_crowd_made_due_by_one_record_is_flushed_over_several_turns() -> None:
    world = World()
    names = [f"ann-{number}" for number in range(300)]
    world.send(*(event(name, 0, "we", "wait") for name in names))
    heard = Labelled()
    worker = world.worker(observer=heard, max_poll_records=32)
    worker.turn(40)
    worker.source.hold_fetches()  # the end is not asked for: the record alone says how late it is
    world.clock.pass_s(2.0)
    worker.source.fetch_again()
    world.send(event("late", 0, "so", "late", session_end=True), *(event(name, 1, "again") for name in names))
    most = 0
    for _ in range(60):
        before = heard.seen
        worker.turn()
        most = max(most, heard.seen - before)
        if len(by_session(world.segments())) == len(names) + 1:
            break
    assert 0 < most < len(names)
    assert [one.session for one in world.segments()][-1] == "late"
    worker.turn(120)
    check_every_word_once(
        [
            *(one for name in names for one in (event(name, 0, "we", "wait"), event(name, 1, "again"))),
            event("late", 0, "so", "late"),
        ],
        world.segments(),
    )
    assert {one.cause for one in world.segments()} == {"silence", "end"}


def test_a_refused_event_is_a_dead_letter_and_good_sessions_go_on() -> None:
    world = World()
    world.broker.append("asr.words", 0, b"\xc1nonsense", key=b"ann")
    world.send(event("ann", 0, "hello", session_end=True), event("ann", 1, "again"))
    world.worker().settle()
    letters = world.records("asr.words.dead")
    assert [dict(one.headers)["caesura.reason"] for one in letters] == [b"malformed", b"session_ended"]
    assert letters[0].value == b"\xc1nonsense"
    assert [one.session for one in world.segments()] == ["ann"]


def test_sessions_beyond_the_limit_become_dead_letters_only() -> None:
    world = World(rules=DecodingRules(max_open_sessions=2))
    world.send(*(event(name, 0, "hello") for name in ("ann", "ben", "cy", "dee")))
    world.send(event("ann", 1, "again", session_end=True), event("cy", 1, "now", session_end=True))
    world.worker(dead_letter_limit=1).turn(80)
    letters = world.records("asr.words.dead")
    assert [dict(one.headers)["caesura.reason"] for one in letters] == [b"too_many_sessions"] * 2
    said_by = {name: said(found) for name, found in by_session(world.segments()).items()}
    assert said_by == {"ann": ["hello", "again"], "ben": ["hello"], "cy": ["now"]}


def _bare(world: World) -> list[Segment]:
    return sorted(world.segments(), key=lambda one: (one.session, one.index))


def test_a_partition_that_could_not_be_resumed_is_claimed_again() -> None:
    world, heard = World(), Heard(CallFailed)
    events = speech("ann", 12)
    world.send(*events[:6])
    world.broker.fail("resume", BrokerError("away"))
    worker = world.worker(observer=heard)
    worker.settle()
    world.send(*events[6:])
    worker.settle()
    check_every_word_once(events, world.segments())
    assert "claim" in {one.call for one in heard.events}


@pytest.mark.parametrize("lost", ["commit", "send_offsets"])
def test_a_partition_that_could_not_be_paused_is_claimed_again(lost: Call) -> None:
    world, heard = World(partitions=3), Heard(CallFailed)
    events = [one for number in range(6) for one in speech(f"ann-{number}", 12)]
    worker = world.worker(observer=heard)
    worker.turn(3)
    world.broker.fail(lost, AbortableError("as planned"))
    for _ in range(2):
        world.broker.fail("pause", BrokerError("away"))
    for one in events:
        world.send(one)
        worker.turn()
    worker.settle()
    check_every_word_once(events, world.segments())
    assert [one.call for one in heard.events].count("pause") == 2


def test_a_parked_partition_that_was_not_paused_takes_nothing() -> None:
    world, heard = World(), Heard(CallFailed)
    world.send(event("ann", 0, "one", "two", utterance_end=True))
    newer = msgspec.structs.replace(event("ann", 1, "three"), version="2.0")
    world.broker.append("asr.words", 0, encode_event(newer), key=b"ann")
    world.broker.fail("pause", BrokerError("away"))
    worker = world.worker(observer=heard)
    worker.settle()
    world.send(event("ann", 2, "four", session_end=True))
    worker.settle()
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["newer_event"]
    assert said(world.segments()) == ["one", "two"]
    assert "pause" in {one.call for one in heard.events}


def raising(error: BaseException) -> Callable[..., bool]:
    def fail(*_: object) -> bool:
        raise error

    return fail


def closed_by(worker: InMemoryWorker, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that each client is noted in when it is closed."""
    closed: list[str] = []
    for name, client in (("source", worker.source), ("publisher", worker.publisher), ("store", worker.store)):
        close = client.close

        def noted(name: str = name, close: object = close) -> None:
            closed.append(name)
            assert callable(close)
            close()

        monkeypatch.setattr(client, "close", noted)
    return closed


def test_a_client_that_cannot_be_closed_keeps_no_other_open(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = World().worker()
    worker.settle()
    closed = closed_by(worker, monkeypatch)
    leave = worker.source.close

    def refuse() -> None:
        leave()
        raise BrokerError("leaving the group: nobody answers")

    monkeypatch.setattr(worker.source, "close", refuse)
    with pytest.raises(BrokerError, match="leaving the group"):
        worker.worker.drain()
    assert closed == ["source", "publisher", "store"]


def test_a_worker_that_fails_while_it_drains_leaves_the_group_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world, events = World(), speech("ann", 60)
    world.send(*events[:7])
    first = world.worker(0)
    first.settle()
    world.send(*events[7:30])
    first.turn()
    closed = closed_by(first, monkeypatch)
    monkeypatch.setattr(first.worker, "_label", raising(FatalError("the model's file is gone")))
    with pytest.raises(FatalError, match="file is gone"):
        first.worker.drain()
    assert closed == ["source", "publisher", "store"]
    world.send(*events[30:])
    second = world.worker(1)
    second.settle()
    check_every_word_once(events, world.segments())


@pytest.mark.parametrize("killed_in", ["draining", "leaving the group"])
def test_a_process_that_is_killed_as_it_stops_closes_nothing_more(
    killed_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = World().worker()
    worker.settle()
    closed = closed_by(worker, monkeypatch)
    if killed_in == "draining":
        monkeypatch.setattr(worker.worker, "_label", raising(Crash()))
    else:
        monkeypatch.setattr(worker.source, "close", raising(Crash()))
    with pytest.raises(Crash):
        worker.worker.drain()
    assert closed == []


def test_a_worker_that_is_fenced_as_it_begins_to_drain_lets_go_of_every_client(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    worker = world.worker()
    worker.settle()
    closed = closed_by(worker, monkeypatch)
    world.clock.pass_s(1)
    monkeypatch.setattr(worker.source, "membership", raising(FencedError("a newer member has this instance's id")))
    with pytest.raises(FencedError, match="newer member"):
        worker.worker.drain()
    assert closed == ["source", "publisher", "store"]


@pytest.mark.parametrize("another", [StoreError("closing the connections: no answer"), OSError("no such socket")])
def test_a_workers_error_is_reported_although_close_fails(another: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = World().worker()
    worker.settle()
    monkeypatch.setattr(worker.worker, "_label", raising(FencedError("another has this id")))
    monkeypatch.setattr(worker.store, "close", raising(another))
    with pytest.raises(FencedError, match="another has this id") as told:
        worker.worker.drain()
    assert told.value.__notes__ == [f"and then: {type(another).__name__}: {another}"]


def test_a_slow_engine_is_given_less_and_a_quick_one_more() -> None:
    budget = PollBudget(2000)
    first = budget.max_records
    budget.worked(first, 0.1)
    assert budget.max_records == 2 * first
    budget.worked(2 * first, 8.0)
    assert budget.max_records == first


def test_a_turn_with_little_to_do_says_nothing_about_the_engine() -> None:
    budget = PollBudget(2000)
    before = budget.max_records
    budget.worked(1, 0.001)
    assert budget.max_records == before


@given(records_a_s=st.floats(min_value=0.5, max_value=50_000), most=st.integers(1, 5000))
def test_a_backlog_settles_at_turns_of_about_a_second_at_any_speed(records_a_s: float, most: int) -> None:
    budget = PollBudget(most)
    for _ in range(30):
        budget.worked(budget.max_records, budget.max_records / records_a_s)
    assert 1 <= budget.max_records <= most
    assert budget.max_records == 1 or budget.max_records / records_a_s <= 2.0


_LONGER_THAN_A_PROBE_S = 6.0


def watched(world: World, ordinal: int = 0) -> tuple[InMemoryWorker, Health]:
    """Return a worker and what its readiness path would answer."""
    health = Health(world.clock.monotonic_s)
    observer = TelemetryObserver(log=make_log(io.StringIO()), metrics=Metrics(), health=health)
    return world.worker(ordinal, observer=observer), health


def test_a_worker_is_not_ready_before_it_is_a_member_and_is_once_it_is() -> None:
    worker, health = watched(World())
    assert health.why_not_ready() != ()
    worker.turn(3)
    assert health.why_not_ready() == ()


def test_a_member_with_nothing_assigned_is_ready() -> None:
    world = World(partitions=1)
    first, _ = watched(world, 0)
    first.turn(3)
    second, health = watched(world, 1)
    for _ in range(5):
        first.turn()
        second.turn()
    assert sorted(len(one.worker.assignment.loaded) for one in (first, second)) == [0, 1]
    assert health.why_not_ready() == ()


def test_a_leaving_worker_is_not_ready_while_its_last_words_go_out() -> None:
    world = World()
    worker, health = watched(world)
    worker.turn(3)
    world.send(event("ann", 0, "one", session_end=True))
    worker.turn()
    worker.worker.drain()
    assert "draining" in health.why_not_ready()
    assert len(world.segments()) == 1


def test_a_failed_checkpoint_is_not_held_against_moved_partitions() -> None:
    world = World()
    first, health = watched(world, 0)
    first.settle()
    world.send(event("ann", 0, "one", session_end=True))
    world.broker.fail("commit", AbortableError("as planned"), of="caesura-0")
    while health.why_not_ready() == ():
        first.turn()
    assert health.why_not_ready() == ("checkpoint: commit_aborted",)
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    second, other = watched(world, 1)
    for _ in range(100):
        second.turn()
        first.turn()
    assert len(world.segments()) == 1
    assert (health.why_not_ready(), other.why_not_ready()) == ((), ())


def test_silent_brokers_are_named_where_there_is_nothing_to_do() -> None:
    world = World()
    worker, health = watched(world)
    worker.settle()
    world.redis.away = True
    world.broker.fail("partition_count", BrokerError("nobody answers"))
    world.clock.pass_s(_LONGER_THAN_A_PROBE_S)
    worker.turn(2)
    assert set(health.why_not_ready()) == {"probe: BrokerError"}
    world.redis.away = False
    world.clock.pass_s(_LONGER_THAN_A_PROBE_S)
    worker.turn(2)
    assert health.why_not_ready() == ()
