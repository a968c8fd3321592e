"""Writes a no-op record; the broker that accepts it leads the partition (ADR 0047).

A broker that stood still for longer than its session goes on as a partition's leader when it wakes, until it hears of
its successor, and returns an old end. But it cannot accept a record that all in-sync replicas must acknowledge.
"""

from __future__ import annotations

from confluent_kafka import KafkaError, Message, Producer

from caesura.worker.adapters.kafka.errors import consumer_error, consuming
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, CaesuraError, FatalError
from caesura.worker.ports.records import OutMessage


class EndProbe:
    """A producer without transactions, made when it is first needed; a probe that is written twice does no harm."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._options = settings.client_options() | {
            "acks": "all",
            "message.timeout.ms": settings.request_timeout_ms,
            "delivery.report.only.error": False,
        }
        self._producer: Producer | None = None
        self._closed = False

    def write(self, message: OutMessage, timeout_s: float) -> int:
        """Return the offset at which the leader has it, and all who are in sync. May block; BrokerError, FatalError."""
        doing = f"writing to {message.topic} [{message.partition}]"
        try:
            return self._written(message, timeout_s, doing)
        except CaesuraError:
            self._drop()
            raise

    def close(self) -> None:
        """Write nothing any more; harmless twice."""
        self._closed = True
        self._drop()

    def _written(self, message: OutMessage, timeout_s: float, doing: str) -> int:
        answers: list[tuple[KafkaError | None, int | None]] = []

        def answered(error: KafkaError | None, written: Message) -> None:
            answers.append((error, written.offset()))

        with consuming(doing):
            producer = self._made(doing)
            producer.produce(
                message.topic,
                value=message.value,
                key=message.key,
                partition=message.partition,
                headers=list(message.headers),
                on_delivery=answered,
            )
            producer.flush(timeout_s)
        error, offset = answers[0] if answers else (None, None)
        if error is not None:
            raise consumer_error(error, doing)
        if offset is None:
            raise BrokerError(f"{doing}: no answer in time")
        return offset

    def _made(self, doing: str) -> Producer:
        if self._closed:
            raise FatalError(f"{doing}: closed")
        if self._producer is None:
            self._producer = new_client(Producer, self._options)
        return self._producer

    def _drop(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            producer.close()
