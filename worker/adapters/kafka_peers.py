"""Ends a transaction that a dead peer left open (``worker.ports.PeerTransactions``)."""

from __future__ import annotations

from typing import Any, cast

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from worker.adapters.kafka_errors import consuming
from worker.adapters.kafka_settings import KafkaSettings
from worker.errors import BrokerError

__all__ = ["KafkaPeerTransactions"]


class KafkaPeerTransactions:
    """Looks up and fences other workers' producers; its clients live only as long as a call."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        self._settings = settings
        self._topic = topic

    def last_writer(self, partition: int, timeout_s: float) -> str | None:
        """Return the metadata of the committed offset; the admin client does not ask for stable offsets."""
        doing = f"asking who committed {self._topic} [{partition}]"
        asked = ConsumerGroupTopicPartitions(self._settings.group_id, [TopicPartition(self._topic, partition)])
        with consuming(doing):
            admin = AdminClient(cast("dict[str, Any]", self._settings.client_options()))
            answers = admin.list_consumer_group_offsets([asked], require_stable=False, request_timeout=timeout_s)
            found = answers[self._settings.group_id].result(timeout_s).topic_partitions
        return next((place.metadata for place in found or () if place.offset >= 0), None)

    def end(self, transactional_id: str, timeout_s: float) -> None:
        """Become this transactional id for a moment: ``init_transactions`` aborts and fences."""
        try:
            Producer(self._settings.producer_options(transactional_id)).init_transactions(timeout_s)
        except KafkaException as exception:
            error = exception.args[0]
            raise BrokerError(f"ending the transactions of {transactional_id}: {error.name()}") from exception
