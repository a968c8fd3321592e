"""A command that wants a Kafka and a Redis leaves neither behind, whatever it could not find or do."""

from __future__ import annotations

import contextlib

import pytest

from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import NotFound
from tests.harness.parts.real_parts import real_parts
from tests.harness.parts.redis_part import RedisServer


class Found:
    """Finds parts that are none, and notes which are closed."""

    def __init__(self) -> None:
        self.closed: list[str] = []

    def kafka(self) -> Kafka:
        return Kafka("127.0.0.1:1", "a test", close=lambda: self.closed.append("kafka"))

    def redis(self) -> RedisServer:
        return RedisServer("redis://127.0.0.1:1/0", "a test", None, lambda: self.closed.append("redis"))


def no_redis() -> RedisServer:
    raise NotFound("no Redis")


def test_both_are_closed_in_the_end() -> None:
    found = Found()
    with real_parts(found.kafka, found.redis) as (kafka, redis):
        assert (kafka.bootstrap, redis.url) == ("127.0.0.1:1", "redis://127.0.0.1:1/0")
        assert found.closed == []
    assert found.closed == ["redis", "kafka"]


def test_a_kafka_without_a_redis_is_closed() -> None:
    found = Found()
    with pytest.raises(NotFound, match="no Redis"), real_parts(found.kafka, no_redis):
        pytest.fail("there is none")
    assert found.closed == ["kafka"]


def test_both_are_closed_where_the_command_is_interrupted() -> None:
    found = Found()
    with contextlib.suppress(KeyboardInterrupt), real_parts(found.kafka, found.redis):
        raise KeyboardInterrupt
    assert found.closed == ["redis", "kafka"]
