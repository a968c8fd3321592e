"""What a rebuild makes of ledger records that are none of ours: it parks and names them, and never ends the process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from caesura.schemas import events, limits
from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.codec import encode_event
from caesura.worker.adapters.memory.log_reader import MemoryLogReader
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import NextOffset
from caesura.worker.runtime.ledger.output_records import REFUSED_HEADER, THROUGH_HEADER
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.incomplete_ledger import give_up
from tests.harness.speech import event, said

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


def test_an_unreadable_record_that_was_replaced_harms_nobody() -> None:
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


def test_a_flood_of_refusals_is_a_record_a_checkpoint_and_all_of_them_stay_refused() -> None:
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


def test_what_a_release_refused_stays_refused_where_another_ones_limits_would_take_it(
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
