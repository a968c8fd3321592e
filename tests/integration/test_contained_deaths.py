"""What would stop a partition, on a real Kafka and a real Redis: a word that ends the engine, a record to skip."""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.schemas.segments import Cause
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.commands.skip import request_skip
from tests.harness.engines import DEADLY
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import RealWorld
from tests.harness.speech import by_session, event, said


@pytest.mark.timeout(400)
@pytest.mark.parametrize("words", [("a", DEADLY, "word"), ("a", DEADLY)], ids=["record", "silence flush"])
def test_only_the_session_that_kills_the_engine_goes_out_unlabelled(
    kafka: Kafka, redis_server: RedisServer, deployment: str, words: tuple[str, ...]
) -> None:
    rules: dict[str, object] = {"flush_after_ms": 500, "stall_after_ms": 500}
    world = RealWorld(kafka, redis_server.url, deployment, partitions=1, rules=rules)
    names = [f"ann-{number}" for number in range(6)]
    world.send(*(event(name, 0, "we", "wait") for name in names[:3]), event("ben", 0, *words))
    world.send(*(event(name, 0, "we", "wait") for name in names[3:]))
    with world.process(engine="deadly") as process:
        while len(world.segments()) < len(names) + 1:
            assert process.lives
            process.ends(timeout_s=1.0)
    found = by_session(world.segments())
    assert {name: said(segments) for name, segments in found.items()} == {
        "ben": list(words),
        **{name: ["we", "wait"] for name in names},
    }
    assert [one.cause for one in found["ben"]] == [Cause.FALLBACK]
    assert {one.cause for name in names for one in found[name]} == {Cause.SILENCE}
    assert world.records(world.dead_topic) == []


@pytest.mark.timeout(400)
def test_a_record_that_parks_its_partition_is_skipped(kafka: Kafka, redis_server: RedisServer, deployment: str) -> None:
    world = RealWorld(kafka, redis_server.url, deployment, partitions=1)
    worker = world.worker(0)
    newer = msgspec.msgpack.encode({**msgspec.msgpack.decode(encode_event(event("ann", 1, "two"))), "version": "2.0"})
    world.send(event("ann", 0, "one"))
    world.send_bytes(b"ann", newer, partition=0)
    world.send(event("ann", 2, "three", session_end=True))
    worker.turn_until(lambda: bool(worker.worker.assignment.parked), timeout_s=120)
    pipeline = world.pipeline()
    reader = KafkaLogReader(pipeline.kafka_settings())
    try:
        request_skip(reader, pipeline.settings(), 0, 1)
    finally:
        reader.close()
    worker.turn_until(lambda: said(world.segments()) == ["one", "three"], timeout_s=120)
    (letter,) = world.records(world.dead_topic)
    assert letter.value == newer
    assert dict(letter.headers)["caesura.reason"] == b"skipped"
