"""Records that are wrong in every way, on a real Kafka and Redis: each ends as it should, and good sessions go on."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.schemas.events import WordsEvent
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.commands.skip import request_skip
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.records import Record
from tests.harness.bad_events import BadRecord, bad_records
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import UNHURRIED, RealWorld
from tests.harness.speech import check_every_word_once, event, said, speech

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


def test_a_record_that_parks_its_partition_is_skipped(world: RealWorld) -> None:
    worker = world.worker()
    newer = msgspec.msgpack.encode({**msgspec.msgpack.decode(encode_event(event("ann", 1, "two"))), "version": "2.0"})
    world.send(event("ann", 0, "one"))
    world.send_bytes(b"ann", newer)
    world.send(event("ann", 2, "three", session_end=True))
    worker.turn_until(lambda: bool(worker.worker.assignment.parked), timeout_s=120)
    ((parked, _),) = worker.worker.assignment.parked.items()
    pipeline = world.pipeline()
    reader = KafkaLogReader(pipeline.kafka_settings())
    try:
        request_skip(reader, pipeline.settings(), parked, 1)
    finally:
        reader.close()
    worker.turn_until(lambda: said(world.segments()) == ["one", "three"], timeout_s=120)
    worker.worker.drain()
    (letter,) = world.records(world.dead_topic)
    assert letter.value == newer
    assert _reason(letter) == "skipped"


def _halves(events: list[WordsEvent]) -> tuple[list[WordsEvent], list[WordsEvent]]:
    """Return each session's first events, and the rest."""
    firsts = [one for one in events if one.seq < 4]
    return firsts, [one for one in events if one.seq >= 4]


def _send_bad(world: RealWorld, one: BadRecord) -> None:
    where = (murmur2_partition(one.key or b"", _PARTITIONS) + one.shift) % _PARTITIONS
    world.send_bytes(one.key, one.value, partition=where)


def _input(world: RealWorld, partition: int) -> dict[int, Record]:
    return {one.offset: one for one in world.records(world.words_topic) if one.partition == partition}


def _reason(letter: Record) -> str:
    return (dict(letter.headers)["caesura.reason"] or b"").decode()
