"""A word that ends the engine's process, on a real Kafka and a real Redis."""

from __future__ import annotations

import pytest

from caesura.schemas.segments import Cause
from tests.harness.engines import DEADLY
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import RealWorld
from tests.harness.speech import by_session, event, said


@pytest.mark.timeout(400)
@pytest.mark.parametrize("words", [("a", DEADLY, "word"), ("a", DEADLY)], ids=["record", "silence flush"])
def test_a_session_that_kills_the_engine_goes_out_unlabelled_and_others_labelled(
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
