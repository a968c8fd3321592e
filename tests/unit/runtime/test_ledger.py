"""What a rebuild makes of ledger records that are none of ours: it parks and names them, and never ends the process."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec
import pytest

from caesura.schemas import events, limits
from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.codec import encode_event
from caesura.schemas.ledger_sum import LedgerSum, Published
from caesura.schemas.state import SessionFacts
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.memory.log_reader import MemoryLogReader
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import AbortableError, BrokerError, FatalError
from caesura.worker.ports.records import NextOffset
from caesura.worker.runtime.checkpoint import saves
from caesura.worker.runtime.claim import rebuild
from caesura.worker.runtime.ledger.output_records import REFUSED_HEADER, THROUGH_HEADER
from caesura.worker.runtime.settings import totals
from caesura.worker.runtime.settings.totals import SessionShare, SessionTotals
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.incomplete_ledger import (
    PATIENT,
    disagreement,
    give_up,
    parked_of,
    rebuilt,
    strike,
    world_of_two,
    write_again,
)
from tests.harness.speech import by_session, event, said

_Bounds = Callable[[MemoryLogReader, str, int, float], tuple[int, int]]
_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_UNREADABLE = [
    (b"ann", b"\xc1", ()),
    (b"ann", b"", ()),
    (b"ann", b"\x80", ()),
    (b"\xff", b"\x80", ()),
    (None, b"\x80", ()),
    (b"ann", None, ((THROUGH_HEADER, b"no number"),)),
    (b"\x00refused:x", None, ((REFUSED_HEADER, b"no number"),)),
    (b"\x00refused:x", None, ((REFUSED_HEADER, b"0-9999999999999"),)),
]


def _rebuilt(world: World) -> InMemoryWorker:
    world.redis.lose_everything()
    worker = world.worker()
    worker.settle()
    return worker


def _world() -> World:
    world = World(rules=_PATIENT)
    first = world.worker()
    world.send(event("ann", 0, "one", utterance_end=True), event("ann", 1, "two"))
    first.settle()
    first.worker.drain()
    return world


@pytest.mark.parametrize(("key", "value", "headers"), _UNREADABLE)
def test_an_unreadable_record_parks_its_partition_and_is_named(
    key: bytes | None, value: bytes | None, headers: tuple[tuple[str, bytes | None], ...]
) -> None:
    world = _world()
    offset = world.broker.append("caesura.ledger", 0, value, key=key, headers=headers)
    worker = _rebuilt(world)
    (parked,) = worker.worker.assignment.parked.values()
    assert parked.reason == "ledger_unreadable"
    assert f"caesura.ledger [0], offset {offset}:" in parked.detail
    give_up(world, parked.detail, key=key)
    world.release(0)
    worker.turn(400)
    assert worker.worker.unready() == ()


def test_a_tombstone_as_the_parked_line_spells_it_out_brings_no_word_twice() -> None:
    world = World(rules=_PATIENT)
    first = world.worker()
    ann = [event("ann", seq, word, utterance_end=True) for seq, word in enumerate(("one", "two"))]
    world.send(event("ben", 0, "hello"), *ann)
    first.settle()
    first.worker.drain()
    world.broker.append("caesura.ledger", 0, b"\xc1", key=b"ann")
    worker = _rebuilt(world)
    (parked,) = worker.worker.assignment.parked.values()
    give_up(world, parked.detail)
    world.release(0)
    worker.turn(400)
    world.send(event("ann", 2, "three", session_end=True), event("ben", 1, "there", session_end=True))
    worker.settle()
    assert sorted(said(world.segments())) == ["hello", "one", "there", "three", "two"]


def test_an_end_from_before_that_a_former_leader_tells_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = _world()
    monkeypatch.setattr(MemoryLogReader, "bounds", _ledger_from_before(MemoryLogReader.bounds))
    worker = _rebuilt(world)
    world.send(event("ann", 2, "three", session_end=True))
    worker.settle()
    assert said(world.segments()) == ["one", "two", "three"]


def _ledger_from_before(true_bounds: _Bounds) -> _Bounds:
    """A leader of the ledger that lacks all that its successor has taken."""

    def bounds(reader: MemoryLogReader, topic: str, partition: int, timeout_s: float) -> tuple[int, int]:
        return (0, 0) if topic == "caesura.ledger" else true_bounds(reader, topic, partition, timeout_s)

    return bounds


def test_a_record_under_anothers_key_is_unreadable() -> None:
    world = _world()
    stored = next(one for one in world.records("caesura.ledger") if one.key == b"ann")
    world.broker.append("caesura.ledger", 0, stored.value, key=b"ben")
    assert [one.reason for one in _rebuilt(world).worker.assignment.parked.values()] == ["ledger_unreadable"]


def test_a_replaced_unreadable_record_does_no_harm() -> None:
    world = World(rules=_PATIENT)
    world.broker.append("caesura.ledger", 0, b"\xc1", key=b"ann")
    world.broker.append("caesura.ledger", 0, None, key=b"ann")
    world.broker.append("caesura.ledger", 0, None, key=b"\xff")
    first = world.worker(adopt_foreign_offsets=True)
    world.send(event("ann", 0, "one", utterance_end=True), event("ann", 1, "two"))
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    world.send(event("ann", 2, "three", session_end=True))
    world.worker().settle()
    assert said(world.segments()) == ["one", "two", "three"]


def _commit(world: World, next_offset: int) -> None:
    """Commit another offset as a worker of ours would."""
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    metadata = OffsetMetadata.decode(committed.metadata if committed is not None else None)
    assert metadata is not None
    metadata = msgspec.structs.replace(metadata, next_offset=next_offset)
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=next_offset, metadata=metadata.encode()))


def test_an_offset_beyond_the_input_parks_a_rebuild() -> None:
    world = _world()
    _commit(world, 9)
    assert [one.reason for one in _rebuilt(world).worker.assignment.parked.values()] == ["offset_out_of_range"]


def test_an_event_that_only_a_newer_release_reads_parks_a_rebuild() -> None:
    world = _world()
    newer = msgspec.structs.replace(event("ann", 2, "three"), version="2.0")
    end = world.broker.append("asr.words", 0, encode_event(newer), key=b"ann") + 1
    _commit(world, end)
    assert [one.reason for one in _rebuilt(world).worker.assignment.parked.values()] == ["newer_event"]


def test_a_flood_of_refusals_is_a_record_a_checkpoint_and_stays_refused() -> None:
    world = World(rules=replace(_PATIENT, max_open_sessions=1))
    worker = world.worker()
    world.send(event("ann", 0, "one"))
    world.send(*(event(f"ben-{number}", 0, "no", "room", session_end=True) for number in range(500)))
    worker.settle()
    notes = [one for one in world.records("caesura.ledger") if (one.key or b"").startswith(b"\x00")]
    assert len(world.records("asr.words.dead")) == 500
    assert 1 <= len(notes) <= 40
    worker.worker.drain()
    world.rules = _PATIENT
    world.send(event("ann", 1, "two", session_end=True))
    _rebuilt(world)
    assert said(world.segments()) == ["one", "two"]


def test_refused_records_stay_refused_under_other_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    monkeypatch.setattr(limits, "MAX_EVENT_BYTES", 90)
    world.send(event("ann", 0, "one"), event("ann", 1, *["long"] * 20), event("ann", 2, "two"))
    worker.settle()
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"oversized"]
    monkeypatch.setattr(limits, "MAX_EVENT_BYTES", 1_000_000)
    world.send(event("ann", 3, "three", session_end=True))
    worker.worker.drain()
    _rebuilt(world)
    assert said(world.segments()) == ["one", "two", "three"]


def test_limits_of_an_event_are_never_lowered_within_a_major_version() -> None:
    """A rebuild reads again what a former release took: it must be able to."""
    assert limits.MAX_EVENT_BYTES >= 1_000_000
    assert limits.MAX_SESSION_BYTES >= 128
    assert limits.MAX_ATTRIBUTES_BYTES >= 1024
    assert events.MAX_WORD_CHARACTERS >= 64
    assert events.MAX_EVENT_WORDS >= 2000
    assert events.MAX_TARGETS >= 32


def _ends(world: World, worker: InMemoryWorker) -> None:
    """Let all speak on and end; then every word has come once."""
    world.send(event("ann", 3, "four", session_end=True), event("ben", 2, "there", session_end=True))
    world.send(event("zoe", 1, "yet", session_end=True))
    worker.turn(400)
    assert worker.worker.unready() == ()
    assert {name: said(found) for name, found in by_session(world.segments()).items()} == {
        "ann": ["one", "two", "three", "four"],
        "ben": ["who", "is", "there"],
        "zoe": ["not", "yet"],
    }
    assert disagreement(world) is None


def _metadata(world: World) -> OffsetMetadata:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    metadata = OffsetMetadata.decode(committed.metadata) if committed is not None else None
    assert metadata is not None
    return metadata


def _commit_metadata(world: World, metadata: OffsetMetadata) -> None:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    offset = NextOffset(next_offset=committed.next_offset, metadata=metadata.encode())
    world.broker.set_offset("caesura", "asr.words", 0, offset)


@pytest.mark.parametrize(
    ("session", "older", "named"),
    [
        ("ann", False, "'ann' since 0 (2 segments, 2 words; ledger: none)"),
        ("ann", True, "'ann' since 0 (2 segments, 2 words; ledger: 1 segments, 1 words)"),
        ("ben", False, "'ben' since 1 (1 segments, 1 words; ledger: none)"),
    ],
)
def test_a_record_that_is_missing_or_too_old_parks_its_partition_and_is_named(
    session: str, older: bool, named: str
) -> None:
    world = world_of_two()
    before = len(world.segments())
    assert strike(world, session, older=older)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert f"was committed: {named}; " in detail
    world.release(0)
    worker.turn(400)
    assert parked_of(worker).detail == detail, "it parks again until it is fixed"
    assert len(world.segments()) == before
    assert write_again(world) == 1
    world.release(0)
    worker.turn(400)
    _ends(world, worker)


def test_five_of_many_missing_sessions_are_named() -> None:
    world = World(rules=PATIENT)
    first = world.worker()
    names = [f"s{number}" for number in range(9)]
    world.send(*(event(name, 0, "so", utterance_end=True) for name in names))
    first.settle()
    first.worker.drain()
    world.broker.delete_before("caesura.ledger", 0, world.broker.log("caesura.ledger", 0).end)
    detail = parked_of(rebuilt(world)).detail
    assert "records of 0 sessions that published, 9 were committed" in detail
    assert detail.count(" since ") == 5
    assert "and 4 more;" in detail


@pytest.mark.parametrize("fault", [BrokerError("nobody answers"), FatalError("not authorised")])
def test_unreadable_segments_park_the_partition(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of_two()
    strike(world, "ann")
    world.redis.lose_everything()
    worker = world.worker(1, start=False)
    honest = world.broker.log

    def log(topic: str, partition: int) -> object:
        if topic == "asr.segments":
            raise fault
        return honest(topic, partition)

    monkeypatch.setattr(world.broker, "log", log)
    worker.worker.start()
    worker.settle()
    assert "was committed: 'ann' (a foreign tombstone); " in parked_of(worker).detail


def test_metadata_is_read_back_and_damaged_metadata_is_not() -> None:
    with_sum = _metadata(world_of_two())
    assert OffsetMetadata.decode(with_sum.encode()) == with_sum
    for spoilt in (with_sum.encode() + "0", with_sum.encode()[:-1], with_sum.encode().replace(".", ".\u0663")):
        assert OffsetMetadata.decode(spoilt) is None


def test_a_ledger_that_knows_more_than_was_committed_parks_its_partition() -> None:
    world = world_of_two()
    metadata = _metadata(world)
    _commit_metadata(world, msgspec.structs.replace(metadata, ledger=LedgerSum()))
    metadata = msgspec.structs.replace(_metadata(world), next_offset=0)
    offset = NextOffset(next_offset=0, metadata=metadata.encode())
    world.broker.set_offset("caesura", "asr.words", 0, offset)
    assert "or the offset is older than the ledger" in parked_of(rebuilt(world)).detail


_RULES = DecodingRules(
    step_words=1,
    look_ahead_words=0,
    max_buffer_words=3,
    flush_after_ms=300,
    stall_after_ms=300,
    idle_after_ms=10_000,
    forget_after_ms=1_500,
)
_NAMES = [f"s{number}" for number in range(7)]
_STEPS = 60


class _Life:
    """One partition's life, and what it came to."""

    def __init__(self, seed: int) -> None:
        self.drawn = random.Random(seed)
        self.world = World(rules=_RULES)
        self.seqs = dict.fromkeys(_NAMES, 0)
        self.ordinal = 0
        self.summed = 0
        self.worker = self._owner()

    def _owner(self, *, adopts: bool = False) -> InMemoryWorker:
        self.ordinal += 1
        engine = ScriptedEngine(look_ahead_words=1)
        return self.world.worker(
            self.ordinal % 2,
            engine=engine,
            commit_interval_ms=10,
            adopt_foreign_offsets=adopts,
        )

    def step(self) -> None:
        """Let one thing happen, and all that follows from it for a while."""
        name = self.drawn.choices(
            ["say", "wait", "forget", "hand_over", "die", "lose", "lose_one", "abort", "refuse", "adopt", "retire"],
            [40, 8, 4, 5, 3, 5, 4, 4, 3, 1, 2],
        )[0]
        getattr(self, name)()
        for _ in range(self.drawn.choice([0, 1, 3, 12])):
            self.worker.turn()
            self.look()

    def look(self) -> None:
        """Compare, and see that nobody is parked."""
        assert disagreement(self.world) is None
        assert {one.reason for one in self.worker.worker.assignment.parked.values()} <= {"offset_from_outside"}

    def say(self) -> None:
        name = self.drawn.choice(_NAMES)
        words = [f"w{self.drawn.randrange(99)}" for _ in range(self.drawn.randrange(4))]
        end, cut = self.drawn.random() < 0.15, self.drawn.random() < 0.3
        self.world.send(event(name, self.seqs[name], *words, session_end=end, utterance_end=cut))
        self.seqs[name] += 1
        if end and self.drawn.random() < 0.5:
            self.seqs[name] = 0

    def wait(self) -> None:
        self.world.clock.pass_s(0.4)

    def forget(self) -> None:
        self.world.clock.pass_s(6.0)

    def hand_over(self) -> None:
        self.worker.worker.drain()
        self.worker = self._owner()

    def die(self) -> None:
        self.world.broker.expel("caesura", "asr.words", self.worker.source.member_id)
        self.worker = self._owner()

    def lose(self) -> None:
        self.world.redis.lose_everything()

    def lose_one(self) -> None:
        if sessions := self.world.redis.partition(0).sessions:
            self.world.redis.partition_to_write(0).sessions.pop(self.drawn.choice(sorted(sessions)))

    def abort(self) -> None:
        self.world.broker.fail("commit", AbortableError("as planned"), of=f"caesura-{self.ordinal % 2}")

    def refuse(self) -> None:
        self.world.broker.append("asr.words", 0, b"\xc1", key=b"s0")

    def adopt(self) -> None:
        """Set the offset on purpose, as the runbook has it."""
        self.worker.worker.drain()
        end = self.world.broker.log("asr.words", 0).end
        self.world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=end, metadata=""))
        self.worker = self._owner(adopts=True)
        self.worker.settle()
        self.hand_over()

    def retire(self) -> None:
        """Have retention take what a rebuild may need: its sessions come back without their words."""
        log = self.world.broker.log("asr.words", 0)
        committed = self.world.broker.last_committed("caesura", "asr.words", 0)
        if committed is not None:
            self.world.broker.delete_before("asr.words", 0, self.drawn.randint(log.start, committed.next_offset))


@pytest.mark.parametrize("piece", [None, 2], ids=["rebuilt at once", "rebuilt in pieces"])
@pytest.mark.parametrize(
    "first_seed", [0, 4, 8, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(12, 60, 4))]
)
@pytest.mark.slow
def test_the_committed_ledger_sum_matches_the_ledger(
    first_seed: int, piece: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if piece is not None:
        monkeypatch.setattr(saves, "PIECE_SESSIONS", piece)
        monkeypatch.setattr(rebuild, "PIECE_SESSIONS", piece)
    for seed in range(first_seed, first_seed + 4):
        life = _Life(seed)
        for _ in range(_STEPS):
            life.step()
        life.worker.settle()
        life.look()


def _with_the_unpublished(patch: pytest.MonkeyPatch) -> None:
    """Sessions that have published nothing are counted too."""

    def digest(one: Published | SessionFacts) -> int:
        return one.since + 1

    patch.setattr(totals, "published_digest", digest)


def _without_the_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Sessions that are forgotten, or begin anew under their names, are left in."""
    honest = SessionTotals.ledger_with

    def ledger_with(known: SessionTotals, shares: Mapping[str, SessionShare | None]) -> LedgerSum:
        return honest(known, {name: share for name, share in shares.items() if share is not None})

    patch.setattr(SessionTotals, "ledger_with", ledger_with)


@pytest.mark.parametrize("flaw", [_with_the_unpublished, _without_the_forgotten])
def test_a_wrongly_kept_ledger_sum_is_detected(
    flaw: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    flaw(monkeypatch)
    with pytest.raises(AssertionError, match="is committed of the ledger"):
        test_the_committed_ledger_sum_matches_the_ledger(0, None, monkeypatch)
