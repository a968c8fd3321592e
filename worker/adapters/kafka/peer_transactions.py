"""Ends a transaction that a dead peer left open (``caesura.worker.ports.peer_transactions.PeerTransactions``)."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from typing_extensions import override

from caesura.worker.adapters.kafka.errors import consumer_error, consuming, error_of
from caesura.worker.adapters.kafka.fetch_positions import committed_offset
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.producer_handle import close_within
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError
from caesura.worker.ports.peer_transactions import PeerTransactions
from caesura.worker.ports.records import CommittedOffset


class KafkaPeerTransactions(PeerTransactions):
    """Looks up and fences other workers' producers; its clients live only as long as a call."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        self._settings = settings
        self._topic = topic

    @override
    def committed_offsets(self, timeout_s: float) -> dict[int, CommittedOffset]:
        """Return the committed offsets; a consumer that reads uncommitted asks for no stable ones.

        Not the admin client's call: one that times out can end the process with an assertion of librdkafka's.
        """
        options = self._settings.reader_options() | {"isolation.level": "read_uncommitted"}
        with consuming(f"asking who committed {self._topic}"):
            consumer = new_client(Consumer, options)
            try:
                known = consumer.list_topics(self._topic, timeout=timeout_s).topics[self._topic].partitions
                asked = [TopicPartition(self._topic, partition) for partition in known]
                places = consumer.committed(asked, timeout=timeout_s) if asked else []
            finally:
                consumer.close()
        for place in places:
            if place.error is not None:
                raise consumer_error(place.error, f"asking who committed {self._topic}, partition {place.partition}")
        found = {place.partition: committed_offset(place) for place in places}
        return {partition: offset for partition, offset in found.items() if offset is not None}

    @override
    def end(self, transactional_id: str, timeout_s: float) -> None:
        """Become this transactional id for a moment: ``init_transactions`` aborts and fences.

        Every fault is a BrokerError, one of Kafka's ACLs, too: the transaction ends by its own time-out all the same.
        """
        try:
            producer = new_client(Producer, self._settings.producer_options(transactional_id))
            try:
                producer.init_transactions(timeout_s)
            finally:
                close_within(producer)
        except KafkaException as exception:
            error = error_of(exception)
            doing = f"ending the transactions of {transactional_id}"
            raise BrokerError(f"{doing}: {error.name()}: {error.str()}") from exception
