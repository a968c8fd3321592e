"""Reads a topic without a group, for ``tail`` and ``dead-letters``.

It sees only committed records (``read_committed``) and commits nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, TopicPartition

from caesura.worker.adapters.kafka.error_codes import PARTITION_END
from caesura.worker.adapters.kafka.errors import consumer_error, consuming
from caesura.worker.adapters.kafka.fetch_positions import record_of
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.partitions import topic_found
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import FatalError
from caesura.worker.ports.records import PartitionEnd, Record

_NO_GROUP = KafkaError.GROUP_AUTHORIZATION_FAILED
"""librdkafka looks for a group's coordinator whether the group is used or not; a reader needs no right to any."""

_POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where reading begins in every partition: at the start, at the end, or at ``offset`` of ``partition`` alone.

    exact: the end is asked for at once, so that nothing is missed that comes from now on; else when reading begins.
    """

    at_end: bool = False
    exact: bool = False
    partition: int | None = None
    offset: int | None = None


class KafkaReader:
    """Reads one topic's partitions, merged as they come. A context manager."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        # What retention took away while reading is passed over.
        options = settings.reader_options() | {"auto.offset.reset": "earliest"}
        self._settings = settings
        self._topic = topic
        self._timeout_s = settings.request_timeout_ms / 1000
        with consuming("making the reader"):
            self._consumer = new_client(Consumer, options)

    def partitions(self) -> list[int]:
        """Return the topic's partitions. BrokerError, FatalError where there is no such topic."""
        return sorted(topic_found(self._consumer, self._topic, self._settings, self._timeout_s).partitions)

    def assign(self, start: Start) -> list[int]:
        """Begin to read; return the partitions. BrokerError, FatalError."""
        partitions = self.partitions()
        if start.partition is not None:
            if start.partition not in partitions:
                raise FatalError(f"{self._topic} has no partition {start.partition}")
            partitions = [start.partition]
        first = OFFSET_END if start.at_end else OFFSET_BEGINNING
        offset = start.offset if start.offset is not None else first
        places = [TopicPartition(self._topic, partition, offset) for partition in partitions]
        with consuming(f"reading {self._topic}"):
            for place in places if start.at_end and start.exact else ():
                _, place.offset = self._consumer.get_watermark_offsets(place, timeout=self._timeout_s)
            self._consumer.assign(places)
        return partitions

    def poll(self, timeout_s: float) -> Record | PartitionEnd | None:
        """Return what came next, waiting up to the time-out for it. BrokerError, FatalError."""
        with consuming(f"reading {self._topic}"):
            message = self._consumer.poll(timeout_s)
        if message is None:
            return None
        error, partition, offset = message.error(), message.partition(), message.offset()
        if error is not None and error.code() == _NO_GROUP:
            return None
        if error is not None and error.code() != PARTITION_END:
            raise consumer_error(error, f"reading {self._topic}")
        if partition is None or offset is None:
            return None
        return (
            record_of(message, partition, offset)
            if error is None
            else PartitionEnd(partition=partition, next_offset=offset)
        )

    def read(self, start: Start, *, follow: bool) -> Iterator[Record]:
        """Yield records; without ``follow`` until each partition's end was reached once. BrokerError, FatalError."""
        return (record for record in self.read_or_wait(start, follow=follow) if record is not None)

    def read_or_wait(self, start: Start, *, follow: bool) -> Iterator[Record | None]:
        """Yield what ``read`` does, and None where nothing came for a fifth of a second. BrokerError, FatalError."""
        open_ends = set(self.assign(start))
        while follow or open_ends:
            came = self.poll(_POLL_S)
            if isinstance(came, PartitionEnd):
                open_ends.discard(came.partition)
            else:
                yield came

    def close(self) -> None:
        """Let go of the connections."""
        with consuming("closing the reader"):
            self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
