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

    def committed_metadata(self, timeout_s: float) -> dict[int, str]:
        """Return the metadata of the committed offsets; the admin client does not ask for stable ones."""
        group_id = self._settings.group_id
        with consuming(f"asking who committed {self._topic}"):
            admin = AdminClient(cast("dict[str, Any]", self._settings.client_options()))
            asked = ConsumerGroupTopicPartitions(group_id)
            answers = admin.list_consumer_group_offsets([asked], require_stable=False, request_timeout=timeout_s)
            # Bounded by the request's own time-out: a client that is dropped while it still waits ends the process.
            places = answers[group_id].result().topic_partitions or ()
        return {place.partition: place.metadata or "" for place in places if _counts(place, self._topic)}

    def end(self, transactional_id: str, timeout_s: float) -> None:
        """Become this transactional id for a moment: ``init_transactions`` aborts and fences."""
        try:
            Producer(self._settings.producer_options(transactional_id)).init_transactions(timeout_s)
        except KafkaException as exception:
            error = exception.args[0]
            raise BrokerError(f"ending the transactions of {transactional_id}: {error.name()}") from exception


def _counts(place: TopicPartition, topic: str) -> bool:
    return place.topic == topic and place.error is None and place.offset >= 0
