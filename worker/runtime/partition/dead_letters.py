"""Records that can never be applied: their dead letters, and the limit on those that a producer is to blame for."""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass

from caesura.schemas.dead_letters import DeadLetterHeader, DeadLetterReason
from caesura.worker.errors import BadEventError
from caesura.worker.ports.observer import EventRefused, Observer
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import OutMessage, Record
from caesura.worker.runtime.ledger.output_records import OutputRecords
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.settings.settings import RuntimeSettings

__all__ = ["DeadLetters", "Refusals"]

_MAX_KEY_BYTES = 1024


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


class _MalformedLimit:
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


class Refusals:
    """What one partition has refused since the last commit: the letters, and what the ledger remembers of them."""

    def __init__(
        self, state: PartitionState, settings: RuntimeSettings, *, source_topic: str, observer: Observer
    ) -> None:
        self._state = state
        self._settings = settings
        self._observer = observer
        self._output = OutputRecords(settings=settings)
        self._letters = DeadLetters(
            source_topic=source_topic, topic=settings.dead_letter_topic, max_bytes=settings.max_dead_letter_bytes
        )
        self._malformed = _MalformedLimit(limit=settings.dead_letter_limit, window_s=settings.dead_letter_window_s)
        self._messages: list[OutMessage] = []
        self._remembered: list[int] = []

    @property
    def letters(self) -> int:
        """How many dead letters there are."""
        return len(self._messages)

    def messages(self) -> list[OutMessage]:
        """Return the letters, and one record for the ledger of what a rebuild must pass over."""
        return [*self._messages, *self._output.refused(self._state.partition, self._remembered)]

    def refuse(self, record: Record, error: BadEventError, time_ms: int) -> None:
        """Set a record aside; park the partition where its producers send too many that are malformed."""
        partition = self._state.partition
        self._messages.append(self._letters.letter(record, error))
        if error.reason.outlives_rebuild:
            self._remembered.append(record.offset)
        self._observer.note(EventRefused(partition=partition, offset=record.offset, reason=error.reason))
        if error.reason.counts_against_producer and self._malformed.passed(time_ms):
            detail = f"more than {self._settings.dead_letter_limit} malformed events within the window"
            self._state.park(ParkReason.DEAD_LETTER_LIMIT, detail)

    def committed(self) -> None:
        """Take note that all of it is committed."""
        self._messages.clear()
        self._remembered.clear()
