"""Creates topics on a real Kafka, and returns once any client can work with them.

The controller answers a creation when it is decided; the brokers take the partitions up after that. Who asks at once
may hear from one broker that there is no such topic, and from the leader that it leads no such partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.harness.waiting import comes

__all__ = ["create_topics"]

_PATIENCE_S = 90.0


def create_topics(
    admin: AdminClient, bootstrap: str, topics: Mapping[str, Mapping[str, str]], partitions: int, *, replicas: int
) -> None:
    """Create topics, each with its settings; wait until every broker of ``bootstrap`` knows them and leaders answer."""
    new = [
        NewTopic(name, num_partitions=partitions, replication_factor=replicas, config=dict(config))
        for name, config in topics.items()
    ]
    missing = list(new)
    if not comes(partial(_created, admin, missing), within_s=_PATIENCE_S, every_s=0.2):
        raise TimeoutError(f"not created in {_PATIENCE_S:.0f} s: the brokers are fenced")
    for broker in bootstrap.split(","):
        if not comes(partial(_served, broker, new), within_s=_PATIENCE_S, every_s=0.02):
            why = _unanswered(broker, new)
            raise TimeoutError(f"created, but {broker} does not serve them after {_PATIENCE_S:.0f} s: {why}")


def _created(admin: AdminClient, missing: list[NewTopic]) -> bool:
    """Create what is missing; tell whether all is there. A broker that stood still is fenced until it is heard."""
    asked = admin.create_topics(list(missing))
    for topic in list(missing):
        try:
            asked[topic.topic].result(timeout=_PATIENCE_S)
        except KafkaException as exception:
            if exception.args[0].code() != KafkaError.INVALID_REPLICATION_FACTOR:
                raise
        else:
            missing.remove(topic)
    return not missing


def _served(broker: str, topics: Sequence[NewTopic]) -> bool:
    return not _unanswered(broker, topics)


def _unanswered(broker: str, topics: Sequence[NewTopic]) -> str:
    """Ask for the end of each partition as a client that knows one broker only; return what failed, empty if none."""
    options = {"bootstrap.servers": broker, "group.id": "created", "log_level": 0}
    with closing(Consumer(options)) as consumer:
        try:
            for topic in topics:
                for partition in range(topic.num_partitions):
                    consumer.get_watermark_offsets(TopicPartition(topic.topic, partition), timeout=2, cached=False)
        except KafkaException as exception:
            return str(exception)
    return ""
