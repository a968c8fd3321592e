"""Kafka for the demo: librdkafka's in-process mock cluster, and a publisher for it that gives no guarantee.

The mock knows topics, groups and plain commits. It honours **no transactions** (aborted records stay visible, offsets
sent into a transaction are never committed, no producer is fenced), so it cannot show exactly-once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka.admin import AdminClient
from typing_extensions import override

from caesura.worker.adapters.kafka.errors import consuming
from caesura.worker.adapters.kafka.producer_handle import ProducerHandle
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.word_source import GroupMembership

MOCK_PARTITIONS = 4
"""Every topic of the mock cluster has four partitions: librdkafka's own default, which the binding cannot change."""


@contextmanager
def mock_cluster(topics: Sequence[str], *, brokers: int = 1, timeout_s: float = 60.0) -> Iterator[str]:
    """Yield the bootstrap servers of a mock cluster that lives as long as the block; topics are there from the start.

    Any client of this process or another on this machine may connect. BrokerError where it does not come up.
    """
    with consuming("starting the mock cluster"):
        # The handle that starts the mock keeps it alive; what it is told to bootstrap from is ignored.
        options: dict[str, Any] = {
            "bootstrap.servers": "127.0.0.1:1",
            "test.mock.num.brokers": brokers,
            "logger": logging.getLogger("caesura.kafka"),
        }
        keeper = AdminClient(options)
        for topic in topics:
            # Asking for a topic's metadata creates it; the mock does not answer CreateTopics.
            keeper.list_topics(topic, timeout=timeout_s)
        found = keeper.list_topics(timeout=timeout_s)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in found.brokers.values())
    keeper.poll(0)


class PlainPublisher(Publisher):
    """A ``Publisher`` without transactions, for the mock cluster only: what is published stays, even after an abort.

    Records are flushed first, then the offsets are committed plainly through the source: a crash in between publishes
    words twice.
    """

    def __init__(self, settings: KafkaSettings, transactional_id: str, source: KafkaWordSource) -> None:
        self._transactional_id = transactional_id
        self._source = source
        self._offsets: dict[int, NextOffset] = {}
        options = {**settings.client_options(), "linger.ms": settings.linger_ms, "delivery.report.only.error": True}
        self._producing = ProducerHandle(options, queue_full_s=settings.transaction_timeout_ms / 1000)

    @property
    @override
    def transactional_id(self) -> str:
        """The id that a real producer would have; it fences no producer here."""
        return self._transactional_id

    @override
    def init_transactions(self, timeout_s: float) -> None:
        """Wait until a broker answers; there is no other producer to fence."""
        with consuming("connecting"):
            self._producing.live.list_topics(timeout=timeout_s)

    @override
    def begin(self) -> None:
        """Begin with nothing to commit."""
        self._offsets = {}
        self._producing.forget_refused()

    @override
    def publish(self, message: OutMessage) -> None:
        """Send one message at once; it cannot be taken back."""
        self._producing.queue(message)

    @override
    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        """Keep the offsets until the commit."""
        del timeout_s
        if not membership.current:
            raise AbortableError("not a member of the group (any more)")
        self._offsets.update(offsets)

    @override
    def commit(self, timeout_s: float) -> None:
        """Flush, then commit the offsets plainly."""
        if self._producing.live.flush(timeout_s) > 0:
            raise BrokerError("records are still on their way")
        self._producing.raise_refused()
        if self._offsets:
            self._source.commit_without_transaction(self._offsets)
        self._offsets = {}

    @override
    def end_of(self, topic: str, partition: int) -> int | None:
        """Say that it is not known: nothing is read again here."""
        return None

    @override
    def abort(self, timeout_s: float) -> None:
        """Forget the offsets; what was published stays."""
        del timeout_s
        self._offsets = {}
        self._producing.forget_refused()

    @override
    def rebuild(self, timeout_s: float) -> None:
        """Make a fresh producer."""
        self._producing.remake()
        self.init_transactions(timeout_s)

    @override
    def close(self) -> None:
        """Let go without waiting; closing twice is harmless."""
        self._producing.close()
