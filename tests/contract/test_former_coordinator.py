"""A broker that stood still tells, as the coordinator, of offsets from before: nobody believes it (ADR 0047)."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import BrokerError
from tests.harness.group_member import PATIENCE_S, until
from tests.harness.parts.kafka_broker import KafkaProcess
from tests.harness.parts.kafka_cluster import KafkaCluster
from tests.harness.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]

_GROUP = "stood-still"
_LONG_ENOUGH_S = 1.0
"""What a broker that wakes needs at the most to hear that another was elected: 0.05 to more than 0.3 s were seen."""


def test_an_offset_that_a_former_coordinator_tells_is_not_believed(brokers: KafkaCluster) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id=_GROUP)
    with closing(KafkaWordSource(settings, "words", "claims")) as source:
        _commit(brokers.nodes, 1)
        until(lambda: _told(source) == 1)
        former = _coordinator(brokers)
        former.signal(signal.SIGSTOP)
        _commit([broker for broker in brokers.nodes if broker is not former], 2)
        former.signal(signal.SIGCONT)
        assert set(_told_for(source, _LONG_ENOUGH_S)) <= {None, 2}
        until(lambda: _told(source) == 2)


def _commit(brokers: list[KafkaProcess], next_offset: int) -> None:
    """Commit with a client that knows of those brokers only that answer."""
    bootstrap = ",".join(broker.bootstrap for broker in brokers)
    with closing(Consumer({"bootstrap.servers": bootstrap, "group.id": _GROUP, "log_level": 0})) as consumer:

        def committed() -> bool:
            try:
                consumer.commit(offsets=[TopicPartition("words", 0, next_offset)], asynchronous=False)
            except KafkaException:  # nobody coordinates the group yet
                return False
            return True

        until(committed)


def _coordinator(brokers: KafkaCluster) -> KafkaProcess:
    number = wait_until(lambda: _number_of_coordinator(brokers), "nobody coordinates the group")
    assert number is not None
    return brokers.nodes[number - 1]


def _number_of_coordinator(brokers: KafkaCluster) -> int | None:
    """Ask with a client of its own: one that knows a coordinator asks none but it (librdkafka 2.16)."""
    admin = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 0})
    try:
        described = admin.describe_consumer_groups([_GROUP])[_GROUP].result(PATIENCE_S)
    except KafkaException:
        return None
    number: int = described.coordinator.id
    return number


def _told(source: KafkaWordSource) -> int | None:
    """Return the next offset that is committed; None where it is not to be had now."""
    try:
        found = source.committed([0], 5.0)[0]
    except BrokerError:
        return None
    return None if found is None else found.next_offset


def _told_for(source: KafkaWordSource, duration_s: float) -> Iterator[int | None]:
    ends_at_s = time.monotonic() + duration_s
    while time.monotonic() < ends_at_s:
        yield _told(source)
