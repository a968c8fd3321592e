"""Sending word events as a producer does: idempotent, each session to the partition that the worker expects.

For ``replay``, ``dead-letters replay`` and the demo; the worker itself publishes through ``KafkaPublisher``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from caesura.worker.adapters.kafka.errors import consumer_error, consuming, error_of
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.partitions import topic_found
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, CaesuraError

_QUEUE_FULL = KafkaError._QUEUE_FULL  # noqa: SLF001 - librdkafka's own code


class KafkaSender:
    """Sends to one topic. A context manager.

    partition_of: key and partition count to a partition. taken: is told the key and the offset of a record that the
    broker has taken, while something is sent or flushed.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        topic: str,
        partition_of: Callable[[bytes, int], int],
        *,
        taken: Callable[[bytes, int], None] | None = None,
    ) -> None:
        self._topic = topic
        self._partition_of = partition_of
        self._taken = taken
        self._timeout_s = settings.request_timeout_ms / 1000
        self._fault: CaesuraError | None = None
        with consuming("making the producer"):
            options = settings.client_options() | {"enable.idempotence": True, "linger.ms": settings.linger_ms}
            self._producer = new_client(Producer, options)
        self.partitions = len(topic_found(self._producer, topic, settings, self._timeout_s).partitions)

    def send(
        self,
        key: bytes,
        value: bytes | None,
        *,
        partition: int | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        """Queue one record; waits while the queue is full. BrokerError or FatalError, perhaps an earlier one's."""
        target = self._partition_of(key, self.partitions) if partition is None else partition
        while True:
            self._raise_fault()
            try:
                self._producer.produce(
                    self._topic, value, key, target, on_delivery=self._delivered, headers=list(headers) or None
                )
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as exception:
                if error_of(exception).code() != _QUEUE_FULL:
                    raise consumer_error(error_of(exception), f"sending to {self._topic}") from exception
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def flush(self) -> None:
        """Wait until everything was taken. BrokerError, FatalError."""
        left = self._producer.flush(self._timeout_s)
        self._raise_fault()
        if left:
            raise BrokerError(f"{left} records for {self._topic} were not taken in {self._timeout_s:g} s")

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None and self._fault is None:
            self._fault = consumer_error(error, f"sending to {self._topic}")
        if error is None and self._taken is not None:
            key, offset = message.key(), message.offset()
            if isinstance(key, bytes) and offset is not None and offset >= 0:
                self._taken(key, offset)

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.flush()
        elif self._fault is None:  # what was sent before something else went wrong
            self._producer.flush(self._timeout_s)
