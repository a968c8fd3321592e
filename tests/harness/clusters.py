"""The Kafkas that the contract suites are run on: the twin, and a real broker under both group protocols."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from typing import Literal, Protocol

from confluent_kafka import Producer, TopicPartition

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.peer_transactions import KafkaPeerTransactions
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import Start
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.adapters.memory.log_reader import MemoryLogReader, MemoryPeerTransactions
from caesura.worker.adapters.memory.publisher import MemoryPublisher
from caesura.worker.adapters.memory.word_source import MemoryWordSource
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.peer_transactions import PeerTransactions
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.word_source import WordSource
from tests.harness.group_member import PATIENCE_S, Member, text, until
from tests.harness.parts.committed import committed_records
from tests.harness.parts.kafka_part import Kafka, unique


class Cluster(Protocol):
    """A Kafka with one input topic and one group, for one test."""

    topic: str

    def output(self, *, partitions: int = 0, max_message_bytes: int = 1_048_588) -> str:
        """Create a topic, of as many partitions as the input has unless told otherwise."""
        ...

    def append(self, *values: str, partition: int = 0) -> None:
        """Write records outside of any transaction, keyed ``key``, with the header ``h``."""
        ...

    def visible(self, topic: str, partition: int = 0, *, at_once: bool = False) -> list[str]:
        """Return the values that a reader under read_committed sees, of all that was committed, or at once."""
        ...

    def source(self, *, instance_id: str | None = None, topic: str | None = None) -> WordSource:
        """Make one more member of the group; not subscribed."""
        ...

    def publisher(self, name: str, *, topic: str | None = None, outputs: Collection[str] = ()) -> Publisher:
        """Make a publisher; not initialised. ``name`` tells transactional ids of this test apart."""
        ...

    def send(self, publisher: Publisher) -> None:
        """Have everything that was published reach the broker, the transaction still open."""
        ...

    def expel(self, member: Member, *others: Member) -> None:
        """Have the group drop a member that does not poll, while the others do."""
        ...

    def expire(self, publisher: Publisher) -> None:
        """Have the broker time the publisher's open transaction out."""
        ...

    def delete_before(self, partition: int, offset: int) -> None:
        """Do what retention does."""
        ...

    def reader(self) -> LogReader:
        """Make a reader of the log."""
        ...

    def peers(self) -> PeerTransactions:
        """Make what looks at other members' transactions."""
        ...


class InMemoryCluster:
    """The twin."""

    def __init__(self, partitions: int) -> None:
        self.broker = MemoryBroker(wall_ms=lambda: 1_700_000_000_000)
        self.topic = "asr.words"
        self._partitions = partitions
        self.broker.create_topic(self.topic, partitions)

    def output(self, *, partitions: int = 0, max_message_bytes: int = 1_048_588) -> str:
        topic = unique("output")
        self.broker.create_topic(topic, partitions or self._partitions, max_message_bytes=max_message_bytes)
        return topic

    def append(self, *values: str, partition: int = 0) -> None:
        for value in values:
            self.broker.append(self.topic, partition, value.encode(), key=b"key", headers=[("h", b"x")])

    def visible(self, topic: str, partition: int = 0, *, at_once: bool = False) -> list[str]:
        del at_once
        return [text(record) for record in self.broker.records(topic, partition)]

    def source(self, *, instance_id: str | None = None, topic: str | None = None) -> WordSource:
        return MemoryWordSource(self.broker, topic or self.topic, group_id="group", instance_id=instance_id)

    def publisher(self, name: str, *, topic: str | None = None, outputs: Collection[str] = ()) -> Publisher:
        return MemoryPublisher(self.broker, name, topic or self.topic, outputs=outputs)

    def send(self, publisher: Publisher) -> None:
        del publisher  # the twin keeps nothing back

    def expel(self, member: Member, *others: Member) -> None:
        del others
        assert isinstance(member.source, MemoryWordSource)
        self.broker.expel("group", self.topic, member.source.member_id)

    def expire(self, publisher: Publisher) -> None:
        self.broker.expire_transaction(publisher.transactional_id)

    def delete_before(self, partition: int, offset: int) -> None:
        self.broker.delete_before(self.topic, partition, offset)

    def reader(self) -> LogReader:
        return MemoryLogReader(self.broker)

    def peers(self) -> PeerTransactions:
        return MemoryPeerTransactions(self.broker, self.topic, group_id="group")


class RealCluster:
    """A real broker; its group and ids have names that no other test has."""

    def __init__(
        self,
        kafka: Kafka,
        protocol: Literal["classic", "consumer"],
        partitions: int,
        clients: ExitStack,
        *,
        transaction_timeout_ms: int = 4_000,
        max_poll_interval_ms: int = 8_000,
    ) -> None:
        self._kafka = kafka
        self._partitions = partitions
        self._clients = clients
        self._protocol = protocol
        self._transaction_timeout_ms = transaction_timeout_ms
        self._max_poll_interval_ms = max_poll_interval_ms
        self.topic = kafka.create_topic("words", partitions, message_timestamp_type="LogAppendTime")
        self.claims = kafka.create_topic("claims", partitions)
        self.deployment = unique("contract")

    def settings(self, instance_id: str | None = None) -> KafkaSettings:
        return KafkaSettings(
            bootstrap_servers=self._kafka.bootstrap,
            group_id=self.deployment,
            group_protocol=self._protocol,
            group_instance_id=instance_id,
            session_timeout_ms=1_500,
            heartbeat_interval_ms=300,
            max_poll_interval_ms=self._max_poll_interval_ms,
            transaction_timeout_ms=self._transaction_timeout_ms,
        )

    def output(self, *, partitions: int = 0, max_message_bytes: int = 1_048_588) -> str:
        return self._kafka.create_topic("output", partitions or self._partitions, max_message_bytes=max_message_bytes)

    def append(self, *values: str, partition: int = 0) -> None:
        producer = Producer({"bootstrap.servers": self._kafka.bootstrap, "linger.ms": 0})
        for value in values:
            producer.produce(self.topic, value=value, key=b"key", partition=partition, headers=[("h", b"x")])
        assert producer.flush(PATIENCE_S) == 0

    def visible(self, topic: str, partition: int = 0, *, at_once: bool = False) -> list[str]:
        settings, start = replace(self.settings(), group_protocol="classic"), Start(partition=partition)
        records = committed_records(self._kafka.admin, settings, topic, start, markers_s=0.0 if at_once else 3.0)
        return [text(record) for record in records]

    def source(self, *, instance_id: str | None = None, topic: str | None = None) -> WordSource:
        source = KafkaWordSource(self.settings(instance_id), topic or self.topic, self.claims)
        self._clients.callback(source.close)
        return source

    def publisher(self, name: str, *, topic: str | None = None, outputs: Collection[str] = ()) -> Publisher:
        publisher = KafkaPublisher(self.settings(), f"{self.deployment}-{name}", topic or self.topic, outputs=outputs)
        self._clients.callback(publisher.close)
        return publisher

    def send(self, publisher: Publisher) -> None:
        assert isinstance(publisher, KafkaPublisher)
        assert publisher._producing.live.flush(PATIENCE_S) == 0

    def expel(self, member: Member, *others: Member) -> None:
        del member  # it only has to keep still
        deadline = time.monotonic() + self._max_poll_interval_ms / 1000 + 1
        until(lambda: time.monotonic() > deadline, *others)

    def expire(self, publisher: Publisher) -> None:
        del publisher  # the broker looks every second
        time.sleep(self._transaction_timeout_ms / 1000 + 2)

    def delete_before(self, partition: int, offset: int) -> None:
        for future in self._kafka.admin.delete_records([TopicPartition(self.topic, partition, offset)]).values():
            future.result(PATIENCE_S)

    def reader(self) -> LogReader:
        reader = KafkaLogReader(self.settings())
        self._clients.callback(reader.close)
        return reader

    def peers(self) -> PeerTransactions:
        return KafkaPeerTransactions(self.settings(), self.topic)
