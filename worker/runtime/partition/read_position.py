"""How far one partition has been read, and how far that is committed."""

from __future__ import annotations

from dataclasses import dataclass, field

from caesura.worker.ports.records import Record


@dataclass(slots=True)
class ReadPosition:
    """next_offset: the next record to apply. committed_offset: the same as of the last commit.

    leader_epoch: of the record before ``next_offset``, where it is known.
    """

    next_offset: int
    leader_epoch: int | None = None
    committed_offset: int = field(init=False)
    _end_offset: int = field(init=False)
    _read_to_ms: int | None = field(default=None, init=False)
    _uncommitted_ms: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.committed_offset = self._end_offset = self.next_offset

    @property
    def read_to(self) -> int:
        """The offset up to which all was read: after the last record, or after a transaction's marker behind it."""
        return max(self.next_offset, self._end_offset)

    @property
    def has_moved(self) -> bool:
        """Tell whether records were applied since the last commit."""
        return self.next_offset != self.committed_offset

    @property
    def unread_since(self) -> tuple[int, int | None]:
        """Return the committed offset, and about when its record was appended; None if none was read yet."""
        return self.committed_offset, self._read_to_ms if self._uncommitted_ms is None else self._uncommitted_ms

    def is_unread(self, end_offset: int) -> bool:
        """Tell whether the log up to this end has records that are not committed as read."""
        return self._uncommitted_ms is not None or end_offset > self.read_to

    def applied(self, record: Record) -> None:
        """Move past a record that was applied or refused."""
        self.next_offset = record.offset + 1
        self.leader_epoch = record.leader_epoch
        self._read_to_ms = record.timestamp_ms
        if self._uncommitted_ms is None:
            self._uncommitted_ms = record.timestamp_ms

    def reached_end(self, next_offset: int) -> None:
        """Note where the log ends now; never commit that offset."""
        self._end_offset = next_offset

    def committed(self, next_offset: int) -> None:
        """Note a commit."""
        self.committed_offset = next_offset
        self._uncommitted_ms = None

    def went_back(self) -> None:
        """Forget what was read after the next record: it is read again."""
        self._end_offset = self.next_offset
