"""The partition times at which a rebuild applies records again: the original ones, as far as the ledger knows them.

A ledger record has the stamp of its session's last input record, and the partition time at which it was applied. Both
differ if a broker's clock was once ahead (``timeline``).

1. Partition time continues from the last such record before the replay offset, and again from each that the replay
   reaches. Until then it does not pass the time of the next one.
2. If the one before does not explain the next one's difference, or there is none before, a clock was set somewhere
   between them. Records up to the next one then use the next one's difference, up to its time. If time had jumped after
   an unpublished word, that word would have been published.
3. Further clock changes are not known, so time may jump after an unpublished word. The session then counts as still
   speaking (``session``, ``replayed``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from caesura.worker.core.decoding.timeline import CLOCKS_DIFFER_MS, PartitionTime
from caesura.worker.ports.records import Record


class AppliedRecord(NamedTuple):
    """A record that was applied: its time stamp, and the partition time at which it was applied."""

    offset: int
    stamp_ms: int
    time_ms: int

    @property
    def ahead_ms(self) -> int:
        """How far partition time was ahead of the stamp."""
        return self.time_ms - self.stamp_ms


class ReplayedTime:
    """Advances ``time`` by replayed records, in order of offset, from ``replay_offset`` on."""

    def __init__(self, time: PartitionTime, applied: Iterable[AppliedRecord], replay_offset: int) -> None:
        self._time = time
        known = sorted(applied)
        self._to_come = deque(one for one in known if one.offset >= replay_offset)
        below = known[: len(known) - len(self._to_come)]
        self._first_ahead_ms = self._ahead_of_first(below[-1] if below else None)
        if below:
            self._go_on_from(below[-1])

    def observe(self, record: Record, wall_ms: int) -> int:
        """Take a record's timestamp and return the time at which it is applied."""
        self._pass(record.offset - 1)
        stamp_ms, by_broker = record.timestamp_ms, record.stamped_by_broker
        most_ms = self._to_come[0].time_ms if self._to_come else None
        now_ms = self._time.observe(stamp_ms, wall_ms, by_broker=by_broker, most_ms=most_ms)
        by_first_ms = stamp_ms + self._first_ahead_ms
        if self._first_ahead_ms and by_broker and most_ms is not None and now_ms < by_first_ms <= most_ms:
            self._time.go_on_from(stamp_ms, by_first_ms)
        self._pass(record.offset)
        return self._time.now_ms

    def _pass(self, offset: int) -> None:
        while self._to_come and self._to_come[0].offset <= offset:
            self._go_on_from(self._to_come.popleft())
            self._first_ahead_ms = 0

    def _go_on_from(self, applied: AppliedRecord) -> None:
        self._time.go_on_from(applied.stamp_ms, applied.time_ms)

    def _ahead_of_first(self, below: AppliedRecord | None) -> int:
        """Return how far time was ahead of the next stamps; 0 if the record before explains it, or it was not."""
        first = self._to_come[0].ahead_ms if self._to_come else 0
        explained = below is not None and abs(first - below.ahead_ms) < CLOCKS_DIFFER_MS
        return 0 if explained or first < CLOCKS_DIFFER_MS else first
