"""Asking the brokers for one topic, with a refusal that says whom was asked and what to do."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import TopicMetadata

from worker.adapters.kafka.errors import consumer_error, consuming
from worker.adapters.kafka.settings import KafkaSettings
from worker.errors import FatalError

__all__ = ["topic_found"]

_MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)  # noqa: SLF001 - librdkafka's own code


def topic_found(client: Consumer | Producer, topic: str, settings: KafkaSettings, timeout_s: float) -> TopicMetadata:
    """Return what the brokers know of a topic. BrokerError: nobody answers; FatalError: there is no such topic."""
    doing = f"asking {settings.bootstrap_servers} for the topic {topic}"
    with consuming(doing):
        # Without its name: a producer that asks by name makes the topic, where the cluster makes topics on request.
        found: TopicMetadata | None = client.list_topics(timeout=timeout_s).topics.get(topic)
    if found is None:
        raise FatalError(f"there is no topic {topic} at {settings.bootstrap_servers}; `caesura topics create` makes it")
    if found.error is not None and found.error.code() not in _MISSING:
        raise consumer_error(found.error, doing)
    if found.error is not None or not found.partitions:
        raise FatalError(f"there is no topic {topic} at {settings.bootstrap_servers}; `caesura topics create` makes it")
    return found
