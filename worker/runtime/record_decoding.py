"""From a Kafka record to a word event, or to a dead letter that says why not."""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass

from schemas.codec import decode_event
from schemas.dead_letters import DeadLetterHeader, DeadLetterReason
from schemas.errors import InvalidEventError
from schemas.events import WordsEvent
from worker.core.partitioning import crc32_partition, murmur2_partition
from worker.errors import BadEventError
from worker.ports.records import OutMessage, Record
from worker.runtime.settings import Partitioner

__all__ = ["REMEMBERED_REFUSALS", "DeadLetters", "MalformedLimit", "read_event"]

REMEMBERED_REFUSALS = frozenset(DeadLetterReason) - {
    DeadLetterReason.LATE,
    DeadLetterReason.STALE_EPOCH,
    DeadLetterReason.SESSION_ENDED,
}
"""Reasons that a record's session does not decide, which a rebuild has again: they are kept.

A rebuild could decide otherwise: by other settings or, of the bytes, by the limits of another release.
"""

_MAX_KEY_BYTES = 1024
_PARTITION_OF = {Partitioner.MURMUR2: murmur2_partition, Partitioner.CRC32: crc32_partition}
_PRODUCER_OPTION = {
    Partitioner.MURMUR2: "Java's default or librdkafka's partitioner=murmur2_random",
    Partitioner.CRC32: "librdkafka's partitioner=consistent_random",
}


def read_event(record: Record, *, partitions: int, partitioner: Partitioner) -> WordsEvent:
    """Return the event of a record.

    BadEventError where it can never be applied; ``schemas.errors.NewerVersionError`` where a newer worker could.
    """
    if record.value is None:
        raise BadEventError(DeadLetterReason.MALFORMED, "the record has no value")
    try:
        event = decode_event(record.value)
    except InvalidEventError as error:
        raise BadEventError(error.reason, error.detail) from None
    if record.key is None or record.key != event.session.encode():
        raise BadEventError(DeadLetterReason.KEY_MISMATCH, "the record's key is not the event's session in UTF-8")
    partition_of = _PARTITION_OF.get(partitioner)
    if partition_of is not None and partition_of(record.key, partitions) != record.partition:
        raise BadEventError(
            DeadLetterReason.WRONG_PARTITION,
            f"the setting partitioner={partitioner} expects {_PRODUCER_OPTION[partitioner]}",
        )
    return event


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetters:
    """Makes dead letters: the original bytes as value; where it came from and why in the headers."""

    source_topic: str
    topic: str
    max_bytes: int

    def letter(self, record: Record, error: BadEventError) -> OutMessage:
        """Return the dead letter of a record; a value beyond the limit is cut, its length and SHA-256 are kept.

        Of a poisonous record nothing but these is kept: its bytes may be what makes a transaction fail.
        """
        max_bytes = 0 if error.reason == DeadLetterReason.POISON else self.max_bytes
        headers = [
            (DeadLetterHeader.TOPIC, self.source_topic.encode()),
            (DeadLetterHeader.PARTITION, b"%d" % record.partition),
            (DeadLetterHeader.OFFSET, b"%d" % record.offset),
            (DeadLetterHeader.REASON, error.reason.encode()),
            (DeadLetterHeader.DETAIL, error.detail.encode()),
        ]
        value = record.value
        if value is not None and len(value) > max_bytes:
            headers.append((DeadLetterHeader.LENGTH, b"%d" % len(value)))
            headers.append((DeadLetterHeader.SHA256, hashlib.sha256(value).hexdigest().encode()))
            value = value[:max_bytes]
        key = record.key
        if key is not None and len(key) > _MAX_KEY_BYTES:
            headers.append((DeadLetterHeader.KEY_SHA256, hashlib.sha256(key).hexdigest().encode()))
            key = None
        return OutMessage(topic=self.topic, partition=record.partition, key=key, value=value, headers=tuple(headers))


class MalformedLimit:
    """Counts malformed events over a window of partition time; beyond the limit a partition is paused, not drained."""

    def __init__(self, *, limit: int, window_s: float) -> None:
        self._limit = limit
        self._window_ms = window_s * 1000.0
        self._seen_ms: deque[int] = deque()

    def passed(self, now_ms: int) -> bool:
        """Count one more; True where it is beyond the limit."""
        self._seen_ms.append(now_ms)
        while now_ms - self._seen_ms[0] > self._window_ms:
            self._seen_ms.popleft()
        return len(self._seen_ms) > self._limit
