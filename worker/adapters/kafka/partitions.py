"""Asks the brokers for one topic; the error names the brokers that were asked and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import TopicMetadata

from caesura.worker.adapters.kafka.errors import consumer_error, consuming
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import FatalError

_MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)  # noqa: SLF001 - librdkafka's own code


def topic_found(client: Consumer | Producer, topic: str, settings: KafkaSettings, timeout_s: float) -> TopicMetadata:
    """Return what the brokers know of a topic. BrokerError: nobody answers; FatalError: there is no such topic."""
    return topics_found(client, [topic], settings, timeout_s)[topic]


def topics_found(
    client: Consumer | Producer, topics: Sequence[str], settings: KafkaSettings, timeout_s: float
) -> dict[str, TopicMetadata]:
    """Return what the brokers know of topics, in one request. BrokerError: nobody answers; FatalError: one is missing.

    It names none of them: a producer that asks by name makes the topic, where the cluster makes topics on request.
    """
    doing = f"asking {settings.bootstrap_servers} for the topic {', '.join(topics)}"
    with consuming(doing):
        told: dict[str, TopicMetadata] = client.list_topics(timeout=timeout_s).topics
    for topic in topics:
        error = told[topic].error if topic in told else None
        if error is not None and error.code() not in _MISSING:
            raise consumer_error(error, doing)
        if topic not in told or error is not None or not told[topic].partitions:
            raise FatalError(
                f"there is no topic {topic} at {settings.bootstrap_servers}; `caesura topics create` makes it"
            )
    return told
