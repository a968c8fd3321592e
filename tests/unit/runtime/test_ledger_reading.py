"""What a rebuild makes of ledger records that are none of ours: it parks and names them, and never ends the process."""

from __future__ import annotations

import msgspec
import pytest

from schemas.codec import encode_event
from tests.harness.speech import event, said
from tests.harness.twin_world import TwinWorker, World
from worker.core.rules import DecodingRules
from worker.ports.records import NextOffset
from worker.runtime.output_records import REFUSED_HEADER, THROUGH_HEADER

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_UNREADABLE = [
    (b"ann", b"\xc1", ()),
    (b"ann", b"", ()),
    (b"ann", b"\x80", ()),
    (b"\xff", b"\x80", ()),
    (None, b"\x80", ()),
    (b"ann", None, ((THROUGH_HEADER, b"no number"),)),
    (b"\x00refused:x", None, ((REFUSED_HEADER, b"no number"),)),
]


def _rebuilt(world: World) -> TwinWorker:
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
    world.broker.append("caesura.ledger", 0, None, key=key)
    worker.store.release(0)
    worker.turn(400)
    assert worker.worker.unready() == ()


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


def test_an_offset_beyond_the_input_parks_a_rebuild() -> None:
    world = _world()
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    beyond = NextOffset(next_offset=committed.next_offset + 7, metadata=committed.metadata)
    world.broker.set_offset("caesura", "asr.words", 0, beyond)
    assert [one.reason for one in _rebuilt(world).worker.assignment.parked.values()] == ["offset_out_of_range"]


def test_an_event_that_only_a_newer_release_reads_parks_a_rebuild() -> None:
    world = _world()
    newer = msgspec.structs.replace(event("ann", 2, "three"), version="9.0")
    end = world.broker.append("asr.words", 0, encode_event(newer), key=b"ann") + 1
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=end, metadata=committed.metadata))
    assert [one.reason for one in _rebuilt(world).worker.assignment.parked.values()] == ["newer_event"]
