"""A broker that stood still tells, as a leader, of an end from before: a rebuild does not believe it (ADR 0047)."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Producer

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.runtime.ledger.output_records import ledger_probe
from tests.harness.group_member import PATIENCE_S, until
from tests.harness.parts.kafka_broker import KafkaProcess
from tests.harness.parts.kafka_cluster import KafkaCluster

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]

_TOPIC = "segments"
_LONG_ENOUGH_S = 1.0
"""What a broker that wakes needs at the most to hear that another was elected: 0.05 to more than 0.3 s were seen."""


def test_an_end_that_a_former_leader_tells_is_not_believed(brokers: KafkaCluster) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id="rebuilding", request_timeout_ms=5000)
    with closing(KafkaLogReader(settings)) as reader:
        _append(brokers.nodes)
        assert reader.bounds(_TOPIC, 0, PATIENCE_S)[1] == 1
        former = brokers.nodes[brokers.leader(_TOPIC) - 1]
        former.signal(signal.SIGSTOP)
        _append([broker for broker in brokers.nodes if broker is not former])
        former.signal(signal.SIGCONT)
        assert all(end > 2 for end in _told_for(reader, _LONG_ENOUGH_S))
        until(lambda: (_told(reader) or 0) > 2)


def _append(brokers: list[KafkaProcess]) -> None:
    """Append a record with a client that knows of those brokers only that answer."""
    bootstrap = ",".join(broker.bootstrap for broker in brokers)
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0, "log_level": 0})
    producer.produce(_TOPIC, b"appended", partition=0)
    assert producer.flush(2 * PATIENCE_S) == 0


def _told(reader: LogReader) -> int | None:
    """Return the end; None where it is not to be had now."""
    try:
        return reader.bounds_behind(ledger_probe(_TOPIC, 0), 5.0)[1]
    except BrokerError:
        return None


def _told_for(reader: LogReader, duration_s: float) -> Iterator[int]:
    ends_at_s = time.monotonic() + duration_s
    while time.monotonic() < ends_at_s:
        told = _told(reader)
        if told is not None:
            yield told
