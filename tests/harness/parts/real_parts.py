"""An Apache Kafka and a Redis together, for a command that wants both: what was found is closed, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tests.harness.parts.kafka_part import Kafka, find_kafka
from tests.harness.parts.redis_part import RedisServer, find_redis


@contextmanager
def real_parts(
    kafka_of: Callable[[], Kafka] = find_kafka, redis_of: Callable[[], RedisServer] = find_redis
) -> Iterator[tuple[Kafka, RedisServer]]:
    """Find or start both, and close them in the end, Redis first. NotFound where one is not at hand.

    kafka_of, redis_of: what finds them.
    """
    with ExitStack() as found:
        kafka = kafka_of()
        found.callback(kafka.close)
        redis = redis_of()
        found.callback(redis.close)
        yield kafka, redis
