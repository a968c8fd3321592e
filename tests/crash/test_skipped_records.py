"""An operator sets a record aside that stops its partition: it is a dead letter, and nothing else changes."""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.worker.adapters.memory.log_reader import MemoryLogReader
from caesura.worker.commands.skip import request_skip
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.session.session import Session
from caesura.worker.errors import FatalError
from caesura.worker.runtime.claim.skips import read_skips
from tests.harness.crashing import Crash
from tests.harness.in_memory_world import World
from tests.harness.speech import event, said

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)


def _skip(world: World, offset: int) -> None:
    request_skip(MemoryLogReader(world.broker), world.settings(), 0, offset)


def _of_next_version() -> bytes:
    return msgspec.msgpack.encode({**msgspec.msgpack.decode(encode_event(event("ann", 1, "two"))), "version": "2.0"})


def test_a_record_that_parks_its_partition_is_skipped_and_all_words_are_kept() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker()
    world.send(event("ann", 0, "one"), event("ben", 0, "who"))
    worker.settle()
    newer = _of_next_version()
    world.broker.append("asr.words", 0, newer, key=b"ann")
    world.send(event("ann", 2, "three", session_end=True), event("ben", 1, "is", session_end=True))
    worker.settle()
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["newer_event"]
    _skip(world, 2)
    worker.turn(500)
    assert worker.worker.unready() == ()
    assert sorted(said(world.segments())) == ["is", "one", "three", "who"]
    (letter,) = world.records("asr.words.dead")
    assert letter.value == newer
    assert dict(letter.headers)["caesura.reason"] == b"skipped"


@pytest.mark.parametrize("redis_is_lost", [False, True])
def test_a_record_that_kills_its_worker_at_every_start_is_skipped(
    monkeypatch: pytest.MonkeyPatch, *, redis_is_lost: bool
) -> None:
    def offer(session: Session, one: object, origin: object) -> object:
        if getattr(one, "seq", None) == 1 and getattr(one, "session", None) == "ben":
            raise Crash
        return honest(session, one, origin)  # type: ignore[arg-type]

    honest = Session.offer
    monkeypatch.setattr(Session, "offer", offer)
    world = World(rules=_PATIENT)
    world.send(event("ann", 0, "one"), event("ben", 0, "who"))
    first = world.worker()
    first.settle()
    first.worker.drain()
    world.send(
        event("ben", 1, "is"), event("ann", 1, "two", session_end=True), event("ben", 2, "there", session_end=True)
    )
    for ordinal in range(3):
        dying = world.worker(ordinal)
        with pytest.raises(Crash):
            dying.turn(200)
        world.broker.expel("caesura", "asr.words", dying.source.member_id)
        world.broker.expire_transaction(f"caesura-{ordinal}")
    _skip(world, 2)
    if redis_is_lost:
        world.redis.lose_everything()
    worker = world.worker(3)
    worker.turn(500)
    assert worker.worker.unready() == ()
    assert sorted(said(world.segments())) == ["one", "there", "two", "who"]
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"skipped"]
    worker.worker.drain()
    world.redis.lose_everything()
    again = world.worker(0)
    again.turn(200)
    assert sorted(said(world.segments())) == ["one", "there", "two", "who"]


def test_a_skip_request_means_one_record_that_was_not_applied() -> None:
    world = World(rules=_PATIENT)
    world.send(event("ann", 0, "one"), event("ann", 1, "two"))
    worker = world.worker()
    worker.settle()
    _skip(world, 0)  # it is applied already
    world.broker.append("caesura.claims", 0, b"2 0000", key=b"skip")  # another record's digest
    world.broker.append("caesura.claims", 0, b"what", key=b"skip")
    worker.worker.drain()
    world.send(event("ann", 2, "three", session_end=True))
    world.worker(1).settle()
    assert said(world.segments()) == ["one", "two", "three"]
    assert world.records("asr.words.dead") == []


_DIGEST = b"0" * 64


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"skip", None),
        (b"skip", b""),
        (b"skip", b"\xff\x00\x1b]0;owned\x07"),
        (b"skip", b"2"),
        (b"skip", b"-1 " + _DIGEST),
        (b"skip", b"9" * 1_000_000 + b" " + _DIGEST),
        (b"skip", "² ".encode() + _DIGEST),
        (b"skip", b"0x2 " + _DIGEST),
        (b"skip", b"2 " + b"0" * 1_000_000),
        (b"skip", b"2 " + _DIGEST + b"\n"),
        (b"skip", b"[" * 100_000),
        (b"\x1b[2J", b"2 " + _DIGEST),
        (None, b"2 " + _DIGEST),
    ],
)
def test_an_invalid_skip_request_is_dropped_and_does_no_harm(key: bytes | None, value: bytes | None) -> None:
    world = World(rules=_PATIENT)
    world.broker.append("caesura.claims", 0, value, key=key)
    assert read_skips(MemoryLogReader(world.broker), "caesura.claims", 0, timeout_s=1.0, stall_s=1.0) == {}
    world.send(event("ann", 0, "one"), event("ann", 1, "two"), event("ann", 2, "three", session_end=True))
    worker = world.worker()
    worker.settle()
    assert worker.worker.unready() == ()
    assert said(world.segments()) == ["one", "two", "three"]
    assert world.records("asr.words.dead") == []


def test_an_offset_that_is_not_there_is_named() -> None:
    world = World()
    with pytest.raises(FatalError, match=r"asr.words \[0\] has no offset 7: its offsets are 0 to 0"):
        _skip(world, 7)
