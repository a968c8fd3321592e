"""Asks the brokers for a topic's partitions and their bounds, with a client of its own.

A broker answers one request of a connection after another. On the group member's connection a question would wait for a
fetch (``fetch_wait_ms``) for each partition, and the loop with it.

The loop and a thread beside it ask. If a client is dropped, after a fault or at ``close``, its last user closes it,
because librdkafka must not lose it during a call.
"""

from __future__ import annotations

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import TopicMetadata

from caesura.worker.adapters.kafka.errors import consuming
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, CaesuraError, FatalError


class RangeQuestions:
    """A consumer that reads nothing, made when it is first needed.

    Who did not answer is asked by a new one: librdkafka keeps a former leader in mind, for as long as ten seconds, for
    a partition that is read from nowhere. isolation_level: read_uncommitted sees open transactions.
    """

    def __init__(self, settings: KafkaSettings, isolation_level: str) -> None:
        self._options = settings.reader_options() | {"isolation.level": isolation_level}
        self._client: Consumer | None = None
        self._closed = False

    def bounds(self, topic: str, partition: int, timeout_s: float, doing: str) -> tuple[int, int]:
        """Ask the leader for the earliest and the end offset. May block; BrokerError, FatalError after ``close``."""
        place = TopicPartition(topic, partition)
        client = self._made(doing)
        try:
            with consuming(doing):
                answer = client.get_watermark_offsets(place, timeout=timeout_s, cached=False)
            if answer is None:
                raise BrokerError(f"{doing}: no answer in time")
        except CaesuraError:
            self._drop(client)
            raise
        return answer[0], answer[1]

    def topic(self, topic: str, timeout_s: float, doing: str) -> TopicMetadata:
        """Ask for a topic's partitions and their leaders. May block; BrokerError, FatalError after ``close``."""
        client = self._made(doing)
        try:
            with consuming(doing):
                found: TopicMetadata = client.list_topics(topic, timeout_s).topics[topic]
        except CaesuraError:
            self._drop(client)
            raise
        return found

    def close(self) -> None:
        """Refuse further questions; one under way ends by its time-out. Harmless twice."""
        self._closed = True
        self._client = None

    def _made(self, doing: str) -> Consumer:
        if self._closed:
            raise FatalError(f"{doing}: closed")
        client = self._client
        if client is None:
            with consuming(doing):
                client = self._client = new_client(Consumer, self._options)
        return client

    def _drop(self, client: Consumer) -> None:
        if self._client is client:
            self._client = None
