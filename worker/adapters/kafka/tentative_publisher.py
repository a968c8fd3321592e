"""Sends unfrozen words to their topic, without waiting, from a small queue of short-lived records (``ports``)."""

from __future__ import annotations

from contextlib import suppress

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from typing_extensions import override

from caesura.worker.adapters.kafka.errors import consuming
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.ports.tentative_publisher import TentativePublisher

_FORGETFUL: dict[str, object] = {
    "acks": 1,
    "enable.idempotence": False,
    "retries": 0,
    "linger.ms": 20,
    "queue.buffering.max.messages": 2000,
    "message.timeout.ms": 2000,  # what is older than that has been replaced by what came after it
}


class KafkaTentativePublisher(TentativePublisher):
    """A second producer, apart from the transactional one."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        self._topic = topic
        self._dropped = 0
        with consuming("making the producer of unfrozen words"):
            self._producer = new_client(Producer, settings.client_options() | _FORGETFUL)

    @override
    def offer(self, partition: int, key: bytes, value: bytes) -> bool:
        try:
            self._producer.produce(self._topic, value, key, partition, on_delivery=self._delivered)
            self._producer.poll(0)
        except (BufferError, KafkaException):
            self._dropped += 1
            return False
        return True

    @override
    def take_dropped(self) -> int:
        self._producer.poll(0)
        dropped, self._dropped = self._dropped, 0
        return dropped

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        del message
        self._dropped += error is not None

    @override
    def close(self) -> None:
        with suppress(KafkaException):
            self._producer.purge()
            self._producer.flush(0.2)
