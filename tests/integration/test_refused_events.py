"""Records that are wrong in every way, on a real Kafka and Redis: each ends as it should, and good sessions go on."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from caesura.schemas.codec import decode_translation, encode_event
from caesura.schemas.events import WordsEvent
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.records import Record
from tests.harness.bad_events import BadRecord, bad_records
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import UNHURRIED, RealWorld
from tests.harness.speech import by_session, check_every_word_once, event, said, speech

pytestmark = pytest.mark.timeout(400)  # a slow machine is no failure

_PARTITIONS = 2


@pytest.fixture
def world(kafka: Kafka, redis_url: str, deployment: str) -> RealWorld:
    return RealWorld(kafka, redis_url, deployment, partitions=_PARTITIONS, rules=UNHURRIED)


def test_each_refused_record_is_a_dead_letter_with_its_bytes_origin_and_reason(world: RealWorld) -> None:
    good = [one for name in ("ann", "ben", "cy") for one in speech(name, 30)]
    bad = bad_records("ann", "word")
    world.send(*_halves(good)[0])
    for one in bad:
        _send_bad(world, one)
    world.send(*_halves(good)[1])
    worker = world.worker()
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
    check_every_word_once(good, world.segments())
    letters = world.records(world.dead_topic)
    assert sorted(_reason(one) for one in letters) == sorted(one.reason for one in bad)
    sent = {(one.reason, one.value or b"") for one in bad}
    assert {(_reason(one), one.value or b"") for one in letters} == sent
    for letter in letters:
        headers = dict(letter.headers)
        assert headers["caesura.topic"] == world.words_topic.encode()
        assert headers["caesura.partition"] == b"%d" % letter.partition
        assert _input(world, letter.partition)[int(headers["caesura.offset"] or b"")].value == letter.value


def test_events_that_come_too_late_are_dead_letters_each_with_its_reason(world: RealWorld) -> None:
    world.send(
        event("ann", 0, "a"),
        event("ann", 2, "b"),
        event("ann", 1, "late"),
        event("ann", 0, "c", epoch=1),
        event("ann", 5, "stale", epoch=0),
        event("ann", 0, "c", epoch=1),
        event("ann", 1, "d", epoch=1, session_end=True),
        event("ann", 2, "more", epoch=1),
    )
    worker = world.worker()
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
    assert [_reason(one) for one in world.records(world.dead_topic)] == ["late", "stale_epoch", "session_ended"]
    assert said(world.segments()) == ["a", "b", "c", "d"]
    gaps = [gap for one in world.segments() for gap in one.gaps]
    assert [(gap.epoch, gap.first_seq, gap.last_seq, gap.before_word) for gap in gaps] == [(0, 1, 1, 1)]


def test_an_unknown_target_is_named_and_the_known_one_served(world: RealWorld) -> None:
    world.send(event("ann", 0, "good", "morning", targets=("de", "xx"), session_end=True))
    worker = world.worker()
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
    assert [one.unknown_targets for one in world.segments()] == [("xx",)]
    translations = [decode_translation(one.value or b"") for one in world.records(world.german_topic)]
    assert [said([one]) for one in translations] == [["good", "morning"]]
    assert world.records(world.dead_topic) == []


def test_an_event_of_a_newer_major_stops_its_partition_alone(world: RealWorld) -> None:
    halted, other = _one_session_a_partition()
    before, after = speech(halted, 12, end=False), speech(other, 30)
    world.send(*before)
    newer = msgspec.msgpack.encode({**msgspec.msgpack.decode(encode_event(event(halted, 3, "x"))), "version": "2.0"})
    world.send_bytes(halted.encode(), newer)
    world.send(event(halted, 4, "waits", session_end=True), *after)
    worker = world.worker()
    worker.turn_until(lambda: bool(worker.worker.assignment.parked))
    worker.turn_until(lambda: any(one.session_end for one in world.segments()))
    parked = world.partition_of(halted)
    assert worker.worker.unready() == (f"partition {parked} parked: newer_event",)
    assert world.records(world.dead_topic) == []
    spoken = by_session(world.segments())
    assert said(spoken[other]) == [word.text for one in after for word in one.words]
    assert "waits" not in said(spoken.get(halted, []))
    worker.worker.drain()


def test_a_newer_minor_is_read_and_its_unknown_fields_are_tolerated(world: RealWorld) -> None:
    fields = msgspec.msgpack.decode(encode_event(event("ann", 0, "hello", session_end=True)))
    world.send_bytes(b"ann", msgspec.msgpack.encode({**fields, "version": "1.9", "mood": "fine"}))
    worker = world.worker()
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
    assert said(world.segments()) == ["hello"]


def test_a_dead_letter_too_large_is_cut_and_says_its_length_and_digest(world: RealWorld) -> None:
    value = b"\xc1" + b"x" * 5000
    world.send_bytes(b"ann", value)
    worker = world.worker(max_dead_letter_bytes=2048)
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
    (letter,) = world.records(world.dead_topic)
    headers = dict(letter.headers)
    assert letter.value == value[:2048]
    assert headers["caesura.length"] == b"5001"
    assert headers["caesura.sha256"] == hashlib.sha256(value).hexdigest().encode()


def _halves(events: list[WordsEvent]) -> tuple[list[WordsEvent], list[WordsEvent]]:
    """Return each session's first events, and the rest."""
    firsts = [one for one in events if one.seq < 4]
    return firsts, [one for one in events if one.seq >= 4]


def _send_bad(world: RealWorld, one: BadRecord) -> None:
    where = (murmur2_partition(one.key or b"", _PARTITIONS) + one.shift) % _PARTITIONS
    world.send_bytes(one.key, one.value, partition=where)


def _one_session_a_partition() -> tuple[str, str]:
    names = [f"s{number}" for number in range(20)]
    first = names[0]
    other = next(name for name in names if murmur2_partition(name.encode(), 2) != murmur2_partition(first.encode(), 2))
    return first, other


def _input(world: RealWorld, partition: int) -> dict[int, Record]:
    return {one.offset: one for one in world.records(world.words_topic) if one.partition == partition}


def _reason(letter: Record) -> str:
    return (dict(letter.headers)["caesura.reason"] or b"").decode()
