"""A real Apache Kafka for the tests: KAFKA_BOOTSTRAP_SERVERS, else Docker, else the jars by Maven on a Java."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, partial

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.harness.parts.kafka_broker import KafkaProcess
from tests.harness.parts.lookup import NotFound, docker_answers
from tests.harness.waiting import comes

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


def unique(name: str) -> str:
    """Return a name that no other test has used, for topics, groups and deployments."""
    return f"{name}-{uuid.uuid4().hex[:10]}"


class Kafka:
    """A broker that answers. Other tests use it at the same time: each makes topics and groups of its own."""

    def __init__(self, bootstrap: str, close: Callable[[], None] = lambda: None) -> None:
        self.bootstrap = bootstrap
        self.close = close

    @cached_property
    def admin(self) -> AdminClient:
        """An admin client of this broker."""
        return AdminClient({"bootstrap.servers": self.bootstrap})

    def create_topic(self, name: str, partitions: int = 1, **config: object) -> str:
        """Create a topic under a unique name made of ``name``, and return that name.

        config: topic settings, underscores for dots: ``cleanup_policy="compact"``.
        """
        topic = unique(name)
        self.create_topic_named(topic, partitions, {key.replace("_", "."): str(value) for key, value in config.items()})
        return topic

    def create_topic_named(self, topic: str, partitions: int, config: Mapping[str, str]) -> None:
        """Create exactly this topic and wait until the broker serves it."""
        self.create_topics_named({topic: config}, partitions)

    def create_topics_named(self, topics: Mapping[str, Mapping[str, str]], partitions: int) -> None:
        """Create exactly these topics, each with its settings, and wait until the broker serves them."""
        create_topics(self.admin, self.bootstrap, topics, partitions, replicas=1)


class OwnKafka(Kafka):
    """A broker that one test at a time may stop, kill, or send a signal, by its ``process``."""

    def __init__(self, process: KafkaProcess) -> None:
        super().__init__(process.bootstrap, process.close)
        self.process = process


def find_kafka(*, long_lived: bool = False) -> Kafka:
    """Find or start a broker; NotFound says what was missing. long_lived: see ``KafkaProcess``."""
    given = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if given:
        return Kafka(given)
    if docker_answers():
        return _in_docker()
    try:
        process = KafkaProcess(long_lived=long_lived)
    except NotFound as missing:
        raise NotFound(f"no Kafka: {missing}; or set KAFKA_BOOTSTRAP_SERVERS, or have a Docker engine") from None
    process.start()
    return OwnKafka(process)


@contextmanager
def running_kafka() -> Iterator[str]:
    """Find or start a broker, and end it with the block; its bootstrap address. NotFound."""
    with closing(find_kafka()) as kafka:
        yield kafka.bootstrap


def _in_docker() -> Kafka:
    from testcontainers.kafka import KafkaContainer  # noqa: PLC0415  # optional, and slow to import

    container = KafkaContainer("apache/kafka:4.1.1").with_kraft()
    for name, value in _DOCKER_SETTINGS.items():
        container.with_env(name, value)
    container.start()
    return Kafka(container.get_bootstrap_server(), container.stop)


_DOCKER_SETTINGS = {
    "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
    "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    "KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": "1000",
    "KAFKA_GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS": "1000",
    "KAFKA_GROUP_CONSUMER_SESSION_TIMEOUT_MS": "5000",
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_TRANSACTION_ABORT_TIMED_OUT_TRANSACTION_CLEANUP_INTERVAL_MS": "1000",
}
