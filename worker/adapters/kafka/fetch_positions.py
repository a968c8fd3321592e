"""Decides which fetched messages are delivered. Pure bookkeeping between confluent-kafka and ``KafkaWordSource``.

Every seek, assignment and loss starts a new **generation** of the partition. A message is delivered only in the
generation in which it was fetched, and only at or after the next offset. Before the first seek no message is delivered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message, TopicPartition

from caesura.worker.adapters.kafka.error_codes import OUT_OF_RANGE
from caesura.worker.errors import BrokerError
from caesura.worker.ports.records import CommittedOffset, PartitionEnd, PartitionStalled, Record


@dataclass(slots=True, kw_only=True)
class Reading:
    """The read position of an assigned partition.

    next_offset: the next offset to deliver; None until the first seek. delivered_to: one past the last record
    delivered, or the offset sought. read_to: the end of the partition when reading last reached it, -1 if not since the
    seek. leader_epoch: of the record before ``next_offset``.
    """

    generation: int
    next_offset: int | None = None
    delivered_to: int = 0
    read_to: int = -1
    paused: bool = True
    leader_epoch: int | None = None


@dataclass(slots=True)
class FetchPositions:
    """The assigned partitions of one topic."""

    topic: str
    _of: dict[int, Reading] = field(default_factory=dict)
    _generation: int = 0

    def __contains__(self, partition: int) -> bool:
        return partition in self._of

    def __getitem__(self, partition: int) -> Reading:
        """Return an assigned partition's position. BrokerError if it is not assigned to this worker."""
        try:
            return self._of[partition]
        except KeyError:
            raise BrokerError(f"partition {partition} of {self.topic} is not assigned here") from None

    def add(self, partitions: Iterable[int]) -> None:
        """Add newly assigned partitions: paused, without a position."""
        for partition in partitions:
            self._generation += 1
            self._of[partition] = Reading(generation=self._generation)

    def drop(self, partitions: Iterable[int]) -> None:
        """Remove partitions that are no longer assigned."""
        for partition in partitions:
            self._of.pop(partition, None)

    def move(self, partition: int, next_offset: int, leader_epoch: int | None = None) -> None:
        """Record a seek."""
        self._generation += 1
        paused = self[partition].paused
        self._of[partition] = Reading(
            generation=self._generation,
            next_offset=next_offset,
            delivered_to=next_offset,
            paused=paused,
            leader_epoch=leader_epoch,
        )

    def generations(self) -> dict[int, int]:
        """Return each partition's generation, to compare with later."""
        return {partition: reading.generation for partition, reading in self._of.items()}

    def unsettled(self, messages: Sequence[Message], generations: dict[int, int]) -> set[int]:
        """Return the partitions of these messages whose generation has changed. generations: those before the fetch."""
        now = self.generations()
        partitions = {partition for message in messages if (partition := message.partition()) is not None}
        return {
            partition
            for partition in partitions
            if partition not in now or generations.get(partition) != now[partition]
        }

    def item(self, message: Message) -> Record | PartitionEnd | PartitionStalled | None:
        """Return the record or event of a message and move past it; None if it must not be delivered."""
        partition, offset, error = message.partition(), message.offset(), message.error()
        if partition is None or partition not in self._of:
            return None
        reading = self._of[partition]
        if reading.next_offset is None:
            return None
        if error is not None and error.code() in OUT_OF_RANGE:
            return PartitionStalled(partition=partition, reason=error.str())
        if offset is None or offset < reading.next_offset:
            return None
        if error is not None:
            reading.next_offset = reading.read_to = offset
            return PartitionEnd(partition=partition, next_offset=offset)
        reading.next_offset = reading.delivered_to = offset + 1
        reading.leader_epoch = message.leader_epoch()
        return record_of(message, partition, offset)

    def ends(self, partition: int, next_offset: int, end: int) -> bool:
        """Whether nothing lies at or after ``next_offset``, given where the leader says the end is.

        The log may end in control markers, which are not delivered. If reading reached the end without a record at or
        after ``next_offset``, an end that has not moved since is still the end.
        """
        if end <= next_offset:
            return True
        reading = self._of.get(partition)
        return reading is not None and end <= reading.read_to and reading.delivered_to <= next_offset

    def paused(self, partitions: Collection[int], *, paused: bool) -> None:
        """Record a pause or a resume. BrokerError if a partition is not assigned to this worker."""
        for partition in partitions:
            self[partition].paused = paused


def record_of(message: Message, partition: int, offset: int) -> Record:
    """Return a message of the broker as a record."""
    kind, timestamp_ms = message.timestamp()
    headers = message.headers() or ()
    pairs = headers.items() if isinstance(headers, dict) else headers
    return Record(
        partition=partition,
        offset=offset,
        timestamp_ms=timestamp_ms if kind != TIMESTAMP_NOT_AVAILABLE else -1,
        stamped_by_broker=kind == TIMESTAMP_LOG_APPEND_TIME,
        key=message.key(),
        value=message.value(),
        leader_epoch=message.leader_epoch(),
        headers=tuple((name, value.encode() if isinstance(value, str) else value) for name, value in pairs),
    )


def known_epoch(leader_epoch: int | None) -> int:
    """Return a leader epoch as the binding takes it: -1 where it is not known."""
    return -1 if leader_epoch is None else leader_epoch


def committed_offset(place: TopicPartition) -> CommittedOffset | None:
    """Return what a group has committed as the binding tells of it; None: nothing yet."""
    if place.offset < 0:
        return None
    return CommittedOffset(next_offset=place.offset, metadata=place.metadata or "", leader_epoch=place.leader_epoch)
