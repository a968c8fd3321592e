"""Claims and rebuilds of many sessions: a bounded piece a turn, the others going on, and the protocol's rules hold."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from caesura.schemas.checkpoint import Manifest, OffsetMetadata
from caesura.schemas.digests import digest_sum
from caesura.schemas.events import WordsEvent
from caesura.schemas.state import decode_state
from caesura.worker.adapters.memory.session_store import StoreFault
from caesura.worker.app import ExitStatus
from caesura.worker.commands.worker import worker as worker_command
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import BrokerError, FencedError
from caesura.worker.ports.commit_steps import CheckpointTaken, CommitStep, CommitStepReached
from caesura.worker.ports.observer import CallFailed, ClaimWaits, Event, PartitionClaimed, SilentObserver
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.reasons import CheckpointOutcome
from caesura.worker.ports.records import NextOffset
from caesura.worker.ports.session_store import StoreWrite
from caesura.worker.ports.word_source import GroupMembership
from caesura.worker.runtime.checkpoint import redis_sessions, saves
from caesura.worker.runtime.claim import load_run, rebuild
from caesura.worker.runtime.loop.own_producer import Fencings
from caesura.worker.runtime.settings.totals import snapshot_digest
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.log import make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver
from tests.harness.executors import DeferredExecutor
from tests.harness.heard import Heard, Rebuilds
from tests.harness.in_memory_world import InMemoryWorker, ManualClock, World
from tests.harness.places import ROOT
from tests.harness.speech import by_session, check_every_word_once, event, said, speech
from tests.harness.unsure import UnsurePublisher

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_PIECE = 40
_SESSIONS = 2 * _PIECE + 8


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a piece hold few sessions: what happens between two pieces does not depend on their size."""
    for module in (load_run, rebuild, redis_sessions, saves):
        monkeypatch.setattr(module, "PIECE_SESSIONS", _PIECE)


@dataclass
class _Watched(SilentObserver):
    claimed: list[PartitionClaimed] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)

    def note(self, event: Event) -> None:
        if isinstance(event, PartitionClaimed):
            self.claimed.append(event)
        elif isinstance(event, ClaimWaits):
            self.waits.append(event.reason)


def _many(partition: int, partitions: int, count: int, *, open_ones: int) -> list[WordsEvent]:
    """Return the events of ``count`` sessions of one partition, all but a few of them ended."""
    names = (f"s{number}" for number in range(1_000_000))
    chosen = [next(one for one in names if _place(one, partitions) == partition) for _ in range(count)]
    return [event(name, 0, "so", "it", session_end=place >= open_ones) for place, name in enumerate(chosen)]


def _place(name: str, partitions: int) -> int:
    return murmur2_partition(name.encode(), partitions)


def _filled(world: World, events: list[WordsEvent]) -> None:
    first = world.worker()
    world.send(*events)
    while len(by_session(world.segments())) < sum(one.session_end for one in events):
        first.turn(20)
    first.settle()
    first.worker.drain()


def _pieces(worker: InMemoryWorker) -> list[int]:
    """Note how many sessions each piece of a full write holds, the last one with its manifest."""
    seen: list[int] = []
    prepare, honest_write = worker.store.prepare, worker.store.write

    def noted_prepare(partition: int, name: str, put: Mapping[str, bytes]) -> None:
        seen.append(len(put))
        prepare(partition, name, put)

    def noted_write(partition: int, write: StoreWrite) -> bool:
        if write.prepared is not None:
            seen.append(len(write.put))
        return honest_write(partition, write)

    worker.store.prepare = noted_prepare  # type: ignore[method-assign]
    worker.store.write = noted_write  # type: ignore[method-assign]
    return seen


def _last_words(events: list[WordsEvent], open_ones: int) -> list[WordsEvent]:
    return [event(one.session, 1, "there", session_end=True) for one in events[:open_ones]]


def test_a_claim_takes_a_piece_a_turn_and_another_partition_goes_on_meanwhile() -> None:
    world = World(partitions=2, rules=_PATIENT)
    events = _many(0, 2, _SESSIONS, open_ones=3)
    _filled(world, events)
    other = next(one for one in (f"t{number}" for number in range(99)) if _place(one, 2) == 1)
    watched = _Watched()
    second = world.worker(1, observer=watched)
    world.send(event(other, 0, "we", "go", "on", session_end=True))
    turns = 0
    while not any(one.partition == 0 for one in watched.claimed):
        second.turn()
        turns += 1
        assert turns < 200
    assert [one.sessions for one in watched.claimed if one.partition == 0] == [_SESSIONS]
    assert turns > 2 * (_SESSIONS // _PIECE)  # read, then made
    second.settle()
    assert said(by_session(world.segments())[other]) == ["we", "go", "on"]
    loaded = second.worker.assignment.loaded[0]
    assert len(loaded.sessions) == _SESSIONS
    assert len(loaded.sessions.awake) == 3  # of those that ended only what is stored is kept
    world.send(*_last_words(events, 3))
    second.settle()
    found = by_session(world.segments())
    assert [said(found[one.session]) for one in events[:3]] == [["so", "it", "there"]] * 3


def test_a_claim_that_redis_interrupts_begins_again_and_finds_all() -> None:
    world = World(rules=_PATIENT)
    events = _many(0, 1, _SESSIONS, open_ones=3)
    _filled(world, events)
    watched = _Watched()
    second = world.worker(1, observer=watched)
    second.store.fail_next("load", StoreFault.NEVER)
    world.send(*_last_words(events, 3))
    second.settle()
    assert watched.waits == ["StoreError"]
    assert [one.sessions for one in watched.claimed] == [_SESSIONS]
    assert {name: said(one)[-1] for name, one in by_session(world.segments()).items()} == {
        one.session: "there" if place < 3 else "it" for place, one in enumerate(events)
    }


def _lost(world: World) -> list[WordsEvent]:
    events = _many(0, 1, _SESSIONS, open_ones=3)
    _filled(world, events)
    world.redis.lose_everything()
    return events


def _all_is_there(world: World, worker: InMemoryWorker, events: list[WordsEvent]) -> None:
    world.send(*_last_words(events, 3))
    worker.turn(150)
    assert worker.worker.unready() == ()
    assert {name: " ".join(said(one)) for name, one in by_session(world.segments()).items()} == {
        one.session: "so it there" if place < 3 else "so it" for place, one in enumerate(events)
    }
    assert len(world.redis.partition(0).sessions) == _SESSIONS


def test_a_rebuild_is_saved_in_pieces_and_the_next_owner_loads_it() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    heard = Rebuilds()
    second = world.worker(1, observer=heard)
    pieces = _pieces(second)
    second.turn(60)
    assert pieces == [*[_PIECE] * (_SESSIONS // _PIECE), _SESSIONS % _PIECE]
    third_heard = Rebuilds()
    _all_is_there(world, second, events)
    second.worker.drain()
    third = world.worker(2, observer=third_heard)
    third.settle()
    assert (len(heard.summaries), third_heard.summaries) == (1, [])
    assert len(third.worker.assignment.loaded[0].sessions) == _SESSIONS


def test_words_committed_between_two_pieces_are_saved_with_the_last() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    pieces = _pieces(second)
    while len(pieces) < 1:
        second.turn()
    late = [event(f"late-{number}", 0, "we", "came", "late", session_end=True) for number in range(3)]
    world.send(*_last_words(events, 3), *late)
    second.settle()
    second.worker.drain()
    heard = Rebuilds()
    third = world.worker(2, observer=heard)
    third.settle()
    assert heard.summaries == []
    assert len(third.worker.assignment.loaded[0].sessions) == _SESSIONS + 3
    published = by_session(world.segments())
    assert [said(published[one.session]) for one in late] == [["we", "came", "late"]] * 3


@pytest.mark.parametrize("pieces", [1, 2])
def test_an_owner_that_dies_between_two_pieces_leaves_a_rebuild(pieces: int) -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    dying = world.worker(1)
    seen = _pieces(dying)
    while len(seen) < pieces:
        dying.turn()
    assert world.redis.partition(0).sessions == {}
    world.broker.expel("caesura", "asr.words", dying.source.member_id)  # it vanishes
    heard = Rebuilds()
    heir = world.worker(2, observer=heard)
    heir.turn(100)
    assert len(heard.summaries) == 1
    _all_is_there(world, heir, events)


@pytest.mark.parametrize("fault", StoreFault)
@pytest.mark.parametrize("call", ["prepare", "write"])
def test_a_piece_that_is_not_answered_is_never_built_upon(fault: StoreFault, call: str) -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    second.store.fail_next(call, fault)
    for _ in range(100):
        second.turn()
        world.clock.pass_s(0.02)
    world.redis.land_late()  # what was on its way lands after the next try
    _all_is_there(world, second, events)
    second.worker.drain()
    heard = Rebuilds()
    world.worker(2, observer=heard).settle()
    assert heard.summaries == []


def test_redis_lost_between_two_pieces_is_noticed_at_the_last_one() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    pieces = _pieces(second)
    while not pieces:
        second.turn()
    world.redis.lose_everything()
    for _ in range(100):
        second.turn()
        world.clock.pass_s(0.02)
    _all_is_there(world, second, events)
    assert len(pieces) > _SESSIONS // _PIECE + 1


def test_a_fail_over_that_loses_one_piece_is_noticed_at_the_last_one() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    pieces = _pieces(second)
    while not pieces:
        second.turn()
    older = world.redis.copy()
    while len(pieces) < 2:
        second.turn()
    world.redis.fail_over_to(older)
    for _ in range(100):
        second.turn()
        world.clock.pass_s(0.02)
    second.worker.drain()
    heard = Rebuilds()
    third = world.worker(2, observer=heard)
    third.turn(100)
    assert heard.summaries == []
    _all_is_there(world, third, events)


def test_fields_that_are_worth_nothing_are_gone_after_a_rebuild() -> None:
    world = World(rules=_PATIENT)
    events = _many(0, 1, 10, open_ones=3)
    _filled(world, events)
    world.redis.spoil(0, lambda fields: fields.update({f"s:old-{number}": b"?" for number in range(_SESSIONS)}))
    second = world.worker(1)
    world.send(*_last_words(events, 3))
    second.turn(150)
    assert sorted(world.redis.partition(0).sessions) == sorted(one.session for one in events)


_PARTITIONS = 20


def _watched() -> tuple[World, Health, TelemetryObserver, Metrics]:
    world = World(partitions=_PARTITIONS)
    health, metrics = Health(world.clock.monotonic_s), Metrics()
    return world, health, TelemetryObserver(log=make_log(io.StringIO()), metrics=metrics, health=health), metrics


def _longest_unsaved_s(metrics: Metrics) -> float:
    known = (
        metrics.registry.get_sample_value("caesura_unsaved_seconds", {"partition": str(n)}) for n in range(_PARTITIONS)
    )
    return max(one or 0.0 for one in known)


def test_with_redis_away_words_come_out_and_the_worker_is_ready() -> None:
    world, health, observer, metrics = _watched()
    worker = world.worker(observer=observer)
    worker.settle()
    world.redis.away = True
    events = [one for number in range(40) for one in speech(f"ann-{number}", 8)]
    for start in range(0, len(events), 5):
        world.send(*events[start : start + 5])
        worker.turn(20)
        world.clock.pass_s(1.0)
        assert health.why_not_alive() == ()
        assert health.why_not_ready() == ()
    worker.settle()
    check_every_word_once(events, world.segments())
    assert _longest_unsaved_s(metrics) > 10.0
    world.redis.away = False
    for _ in range(60):
        worker.turn()
        world.clock.pass_s(0.5)
    assert _longest_unsaved_s(metrics) == 0.0
    heard = Rebuilds()
    worker.worker.drain()
    world.worker(1, observer=heard).turn(100)
    assert heard.summaries == []


def test_redis_is_asked_for_a_sign_of_life_beside_the_loop() -> None:
    world, asking, heard = World(), DeferredExecutor(), Heard(CallFailed)
    worker = world.worker(observer=heard, asking=asking)
    worker.settle()
    world.redis.away = True
    world.clock.pass_s(6.0)
    worker.turn(5)
    assert heard.events == []
    asking.run_all()
    worker.turn()
    assert [one.call for one in heard.events if one.call == "ping"] == ["ping"]


def test_a_worker_starts_and_takes_partitions_over_with_redis_away() -> None:
    world, health, observer, _ = _watched()
    events = [one for number in range(40) for one in speech(f"ann-{number}", 8)]
    first = world.worker()
    world.send(*events[: len(events) // 2])
    first.settle()
    first.worker.drain()
    world.redis.away = True
    world.send(*events[len(events) // 2 :])
    second = world.worker(1, observer=observer)
    for _ in range(300):
        second.turn()
        world.clock.pass_s(0.05)
    assert health.why_not_ready() == ()
    check_every_word_once(events, world.segments())


def test_a_revoke_waits_for_a_save_that_is_under_way() -> None:
    world = World()
    first = world.worker()
    world.send(*speech("ann", 8))
    first.settle()
    heard = Rebuilds()
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    world.send(event("ben", 0, "so"))
    while world.broker.last_committed("caesura", "asr.words", 0) == committed:
        first.turn()
    first.worker.drain()
    world.worker(1, observer=heard).settle()
    assert heard.summaries == []


_RULES = DecodingRules(flush_after_ms=1_000, stall_after_ms=1_000, idle_after_ms=12_000, forget_after_ms=20_000)
_TURNS = st.lists(
    st.tuples(
        st.sampled_from(("ann", "ben", "cho")),
        st.integers(0, 9),  # words
        st.booleans(),  # the session ends
        st.sampled_from((0, 0, 0, 2, 13, 35)),  # seconds that pass
    ),
    min_size=1,
    max_size=25,
)


def _audit(world: World) -> None:
    """Compare a partition's manifest with the sessions that stand there, whose checkpoints have all been saved."""
    stored = world.redis.partition(0)
    assert stored.manifest is not None
    manifest = Manifest.decode(stored.manifest)
    assert all(decode_state(value).session == name for name, value in stored.sessions.items())
    digest = digest_sum(snapshot_digest(name, value) for name, value in stored.sessions.items())
    assert (manifest.sessions, manifest.digest) == (len(stored.sessions), digest)


@settings(max_examples=30)
@given(_TURNS)
def test_whatever_sessions_do_the_manifest_adds_up(
    turns: list[tuple[str, int, bool, int]],
) -> None:
    world, seqs = World(rules=_RULES), {"ann": 0, "ben": 0, "cho": 0}
    worker = world.worker()
    for name, words, ends, passes_s in turns:
        said = (f"{name}-{number}" for number in range(words))
        world.send(event(name, seqs[name], *said, session_end=ends))
        seqs[name] = 0 if ends else seqs[name] + 1
        worker.settle()
        world.clock.pass_s(passes_s)
        worker.settle()
        _audit(world)
    world.broker.expel("caesura", "asr.words", worker.source.member_id)
    heard = Rebuilds()
    world.worker(1, observer=heard).settle()
    assert heard.summaries == []


def test_a_session_that_was_written_many_times_is_found_as_it_was_committed() -> None:
    world, heard = World(), Rebuilds()
    first = world.worker()
    for seq in range(4):
        world.send(event("ann", seq, f"word-{seq}"))
        first.settle()
        _audit(world)
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    world.worker(1, observer=heard).settle()
    assert heard.summaries == []


def _stored_id(world: World) -> str | None:
    stored = world.redis.partition(0).manifest
    return None if stored is None else Manifest.decode(stored).id


def _committed_id(world: World) -> str:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    metadata = None if committed is None else OffsetMetadata.decode(committed.metadata)
    assert metadata is not None
    return str(metadata.id)


def test_many_commits_are_saved_once_an_interval_and_a_stop_saves_at_once() -> None:
    world, steps, rebuilds = World(), Heard(CommitStepReached), Rebuilds()
    first = world.worker(observer=steps, save_interval_ms=20_000, commit_interval_ms=10)
    events = speech("ann", 160)
    for one in events[:30]:
        world.send(one)
        first.settle()
        world.clock.pass_s(0.2)
    done = Counter(one.step for one in steps.events)
    assert done[CommitStep.COMMITTED] >= 10
    assert 1 <= done[CommitStep.SAVED] <= 3
    assert _stored_id(world) != _committed_id(world)
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    second = world.worker(1, observer=rebuilds, save_interval_ms=20_000, commit_interval_ms=10)
    world.send(*events[30:])
    second.settle()
    second.worker.drain()
    assert _stored_id(world) == _committed_id(world)
    _audit(world)
    assert rebuilds.summaries == []
    check_every_word_once(events, world.segments())


class SlowToSend(UnsurePublisher):
    """The offsets take all the time that a transaction has. given_s: what each commit was given."""

    def __init__(self, sure: Publisher, world: World) -> None:
        super().__init__(sure)
        self._world = world
        self.given_s: list[float] = []

    @override
    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        super().send_offsets(offsets, membership, timeout_s)
        self._world.clock.pass_s(timeout_s)

    @override
    def commit(self, timeout_s: float) -> None:
        self.given_s.append(timeout_s)
        super().commit(timeout_s)


@pytest.mark.parametrize("happened", [False, True])
def test_an_unanswered_commit_is_retried_and_words_come_once(*, happened: bool) -> None:
    world, heard, events = World(), Heard(CheckpointTaken), speech("ann", 40)
    worker = world.worker(observer=heard)
    world.broker.fail("commit", BrokerError("nobody answered"), happened=happened)
    world.send(*events)
    worker.turn(200)
    outcomes = [one.outcome for one in heard.events]
    assert outcomes.count(CheckpointOutcome.COMMIT_UNANSWERED) == 1
    assert CheckpointOutcome.COMMIT_UNKNOWN not in outcomes
    check_every_word_once(events, world.segments())


def test_a_commit_has_at_least_a_second_after_slow_offsets() -> None:
    world, events = World(), speech("ann", 40)
    slow: list[SlowToSend] = []

    def around(sure: Publisher) -> Publisher:
        slow.append(SlowToSend(sure, world))
        return slow[-1]

    worker = world.worker(around=around)
    world.send(*events)
    worker.turn(200)
    assert min(slow[0].given_s) >= 1.0
    check_every_word_once(events, world.segments())


def test_of_two_workers_of_one_ordinal_the_repeatedly_fenced_one_stops() -> None:
    world = World(partitions=4)
    events = [one for number in range(12) for one in speech(f"ann-{number}", 40, a_time=2)]
    left = iter(events)
    workers = [world.worker(0), world.worker(0)]
    began_s = world.clock.monotonic_s()
    stopped: list[str] = []
    while len(workers) == 2:
        assert world.clock.monotonic_s() - began_s < 30.0, "both go on, and fence each other"
        for one in list(workers):
            world.send(*(spoken for spoken in [next(left, None)] if spoken is not None))
            try:
                one.turn()
            except FencedError as error:
                stopped.append(str(error))
                workers.remove(one)
                world.broker.expel("caesura", "asr.words", one.source.member_id)
    world.send(*left)
    workers[0].turn(400)
    check_every_word_once(events, world.segments())
    (why,) = stopped
    assert "worker.ordinal" in why


def test_peers_that_end_what_a_paused_worker_left_open_do_not_stop_it() -> None:
    clock = ManualClock()
    fencings = Fencings(clock)
    for _ in range(50):
        assert not fencings.add()
        clock.pass_s(10.0)


def test_every_exit_status_stands_in_the_help_and_on_the_operators_page() -> None:
    table = (ROOT / "docs/operations.md").read_text().partition("### Exit status")[2].partition("\n## ")[0]
    said = worker_command.__doc__ or ""
    for status in ExitStatus:
        assert re.search(rf"^\| {status.value} \|", table, re.MULTILINE), status
        assert re.search(rf"\b{status.value} ", said.partition("Exit status:")[2]), status
    assert "exit status" in (ROOT / "docs/alerts.md").read_text().lower()
