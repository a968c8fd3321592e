"""A record or a flush that kills its process, on a real Kafka and a real Redis: found, and nobody else's loss."""

from __future__ import annotations

import signal

import pytest

from caesura.schemas.segments import Cause
from tests.harness.engines import DEADLY
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import RealWorld
from tests.harness.speech import by_session, event, said

_MOST_DEATHS = 9


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("words", "redis_is_lost"),
    [(("a", DEADLY, "word"), False), (("a", DEADLY), False), (("a", DEADLY, "word"), True)],
    ids=["record", "silence flush", "record, and Redis is lost at each death"],
)
def test_what_kills_its_process_again_and_again_goes_out_unlabelled_and_the_rest_labelled(
    kafka: Kafka, redis_server: RedisServer, deployment: str, words: tuple[str, ...], *, redis_is_lost: bool
) -> None:
    rules: dict[str, object] = {"flush_after_ms": 500, "stall_after_ms": 500}
    world = RealWorld(kafka, redis_server.url, deployment, partitions=1, rules=rules)
    names = [f"ann-{number}" for number in range(6)]
    world.send(*(event(name, 0, "we", "wait") for name in names[:3]), event("ben", 0, *words))
    world.send(*(event(name, 0, "we", "wait") for name in names[3:]))
    deaths = 0
    while len(world.segments()) < len(names) + 1:
        assert deaths < _MOST_DEATHS
        with world.process(engine="deadly") as process:
            while process.lives and len(world.segments()) < len(names) + 1:
                process.ends(timeout_s=1.0)
            deaths += not process.lives
            if not process.lives:
                assert process.wait() == -signal.SIGKILL
                if redis_is_lost:
                    redis_server.flush()
    assert deaths >= 3
    found = by_session(world.segments())
    assert {name: said(segments) for name, segments in found.items()} == {
        "ben": list(words),
        **{name: ["we", "wait"] for name in names},
    }
    assert [one.cause for one in found["ben"]] == [Cause.FALLBACK]
    assert {one.cause for name in names for one in found[name]} == {Cause.SILENCE}
    assert world.records(world.dead_topic) == []
