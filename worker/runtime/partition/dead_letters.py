"""Records that can never be applied: their dead letters, and the limit on malformed and poison ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from caesura.schemas.dead_letters import DeadLetterHeader
from caesura.worker.errors import BadEventError
from caesura.worker.ports.observer import EventRefused, Observer
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import OutMessage, Record
from caesura.worker.runtime.ledger.output_records import OutputRecords
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.settings.settings import RuntimeSettings

_MAX_KEY_BYTES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetters:
    """Makes dead letters: the original bytes as value, origin and reason in the headers."""

    source_topic: str
    topic: str
    max_bytes: int

    def letter(self, record: Record, error: BadEventError, *, is_bare: bool = False) -> OutMessage:
        """Return the dead letter of a record; a value beyond the limit is cut, and its length and SHA-256 are kept.

        is_bare: keep only these, because the topic refuses the bytes.
        """
        max_bytes = 0 if is_bare else self.max_bytes
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


class Refusals:
    """The refusals of one partition since the last commit: dead letters, and notes for the ledger."""

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
        self._messages: list[OutMessage] = []
        self._remembered: list[int] = []

    @property
    def letters(self) -> int:
        """How many dead letters there are."""
        return len(self._messages)

    def messages(self) -> list[OutMessage]:
        """Return the dead letters, and one ledger record of what a rebuild must skip."""
        return [*self._messages, *self._output.refused(self._state.partition, self._remembered)]

    def refuse(self, record: Record, error: BadEventError, time_ms: int) -> None:
        """Set a record aside; park the partition if too many of late were malformed or poison."""
        partition = self._state.partition
        self._messages.append(self._letters.letter(record, error, is_bare=self._state.search.bare_letters))
        if error.reason.outlives_rebuild:
            self._remembered.append(record.offset)
        self._observer.note(EventRefused(partition=partition, offset=record.offset, reason=error.reason))
        if error.reason.is_limited and self._passes_limit(record.offset, time_ms):
            detail = f"more than {self._settings.dead_letter_limit} malformed or poison events within the window"
            self._state.park(ParkReason.DEAD_LETTER_LIMIT, detail)

    def _passes_limit(self, offset: int, now_ms: int) -> bool:
        """Count a record; tell whether it is one too many within the window."""
        counted = self._state.search.counted_ms
        while counted and next(reversed(counted)) >= offset:  # read again since the last commit
            counted.popitem()
        counted[offset] = now_ms
        while now_ms - counted[first := next(iter(counted))] > self._settings.dead_letter_window_s * 1000.0:
            del counted[first]
        return len(counted) > self._settings.dead_letter_limit

    def committed(self) -> None:
        """Note that all of it is committed."""
        self._messages.clear()
        self._remembered.clear()
