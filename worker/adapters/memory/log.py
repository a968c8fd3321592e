"""One partition's log in memory: records, control markers, and what a read_committed reader sees.

A transaction's marker takes an offset, as in Kafka, so the offsets of records have gaps. A read_committed reader
stops at the first record of an open transaction (the last stable offset).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from caesura.worker.ports.records import Record

Writer = tuple[str, int]
"""A transactional producer: its transactional id and epoch."""


class _State(Enum):
    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"
    MARKER = "marker"


@dataclass(slots=True, kw_only=True)
class _Entry:
    record: Record
    writer: Writer | None
    state: _State


@dataclass(slots=True)
class PartitionLog:
    """The log. start: the first offset that retention left. hides: the leader has a record that its replicas lack.

    Records that are written after ``truncate`` have a new leader epoch.
    """

    partition: int
    start: int = 0
    hides: bool = False
    _entries: list[_Entry] = field(default_factory=list)
    _end: int = 0
    _open: dict[Writer, int] = field(default_factory=dict)
    _longest: int = 0
    _epoch_starts: list[int] = field(default_factory=lambda: [0])

    @property
    def end(self) -> int:
        """The next offset to be written."""
        return self._end

    @property
    def stable_end(self) -> int:
        """The last stable offset: a read_committed reader stops before it."""
        return min(self._open.values(), default=self._end)

    def append(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes | None]],
        timestamp_ms: int,
        writer: Writer | None = None,
        *,
        stamped: bool = True,
    ) -> int:
        """Write one record, in a transaction if there is a writer; return its offset.

        stamped: the timestamp is the broker's.
        """
        record = Record(
            partition=self.partition,
            offset=self._end,
            timestamp_ms=timestamp_ms,
            key=key,
            value=value,
            headers=tuple(headers),
            stamped_by_broker=stamped,
            leader_epoch=self._epoch(),
        )
        state = _State.COMMITTED
        if writer is not None:
            state = _State.OPEN
            self._open.setdefault(writer, record.offset)
        self._add(_Entry(record=record, writer=writer, state=state))
        return record.offset

    def end_transaction(self, writer: Writer, timestamp_ms: int, *, commit: bool) -> None:
        """Write the marker that commits or aborts the writer's open records."""
        first = self._open.pop(writer, self._end)
        for entry in self._entries[max(first - self.start, 0) :]:
            if entry.writer == writer and entry.state is _State.OPEN:
                entry.state = _State.COMMITTED if commit else _State.ABORTED
        marker = Record(partition=self.partition, offset=self._end, timestamp_ms=timestamp_ms, key=None, value=None)
        self._add(_Entry(record=marker, writer=writer, state=_State.MARKER))

    def read(self, next_offset: int, max_records: int, *, committed: bool = True) -> tuple[list[Record], int]:
        """Return at most ``max_records`` visible records from ``next_offset`` on, and the next offset to read."""
        limit = self.stable_end if committed else self._end
        seen = (_State.COMMITTED,) if committed else (_State.COMMITTED, _State.OPEN, _State.ABORTED)
        found: list[Record] = []
        for entry in self._entries[max(next_offset - self.start, 0) :]:
            offset = entry.record.offset
            if offset >= limit or len(found) == max_records:
                return found, offset
            if entry.state in seen:
                found.append(entry.record)
        return found, max(limit, next_offset)

    def delete_before(self, offset: int) -> None:
        """Delete the records before ``offset``, as retention does."""
        self._entries = [entry for entry in self._entries if entry.record.offset >= offset]
        self.start = max(self.start, min(offset, self._end))

    def truncate(self, end: int) -> None:
        """Lose the records at ``end`` and after it, as an unclean election does."""
        self._entries = [entry for entry in self._entries if entry.record.offset < end]
        self._end = min(self._end, end)

    def diverges(self, next_offset: int, leader_epoch: int | None) -> bool:
        """Tell whether the records of that leader epoch end before ``next_offset``, so that what was read is gone."""
        if leader_epoch is None or leader_epoch + 1 >= len(self._epoch_starts):
            return False
        return self._epoch_starts[leader_epoch + 1] < next_offset

    def _epoch(self) -> int:
        """Return the leader epoch of the next record."""
        if self._end < self._longest:
            self._epoch_starts.append(self._end)
            self._longest = self._end
        return len(self._epoch_starts) - 1

    def _add(self, entry: _Entry) -> None:
        self._epoch()
        self._entries.append(entry)
        self._end += 1
        self._longest = max(self._longest, self._end)
