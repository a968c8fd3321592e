"""Partition time: taken from records, so that neither a backlog nor a skewed clock looks like silence.

Rules (docs/design.md, *Silence*):

1. It is the largest record time stamp so far. A broker's stamp (``LogAppendTime``) counts as it is; a producer's counts
   at most as the worker's wall clock plus ``max_skew_ms``.
2. Brokers' clocks may be reset. If a broker's stamp is a second or more behind partition time, its clock has changed:
   time then advances by the stamp's distance to the stamp before.
3. Apart from records, time advances only with the leader's answer that the log had no more records when asked
   (``confirm``). The time of the question is that of the last record plus the monotonic time since reading met the end;
   the broker's clock is never behind that.
4. Partition time never goes back. Time that passed before a record, and that no leader confirmed, does not count.
"""

from __future__ import annotations

CLOCKS_DIFFER_MS = 1000
"""By so much brokers' clocks may differ: a time that stands still for so long is put up with."""


class PartitionTime:
    """The time of one partition, in milliseconds since the epoch. start_ms: the latest known when it was claimed."""

    __slots__ = ("_ahead_ms", "_at_end_since_s", "_base_ms", "_max_skew_ms", "_now_ms")

    def __init__(self, *, max_skew_ms: int, start_ms: int = 0) -> None:
        self._max_skew_ms = max_skew_ms
        self._base_ms = start_ms
        self._now_ms = start_ms
        self._ahead_ms = 0
        self._at_end_since_s: float | None = None

    @property
    def is_at_end(self) -> bool:
        """Tell whether reading has met the end, so that the monotonic clock says how late it may be."""
        return self._at_end_since_s is not None

    @property
    def now_ms(self) -> int:
        """Return the partition's time: whatever is due by now may be fired, whatever is read next."""
        return self._now_ms

    def observe(self, timestamp_ms: int, wall_ms: int, *, by_broker: bool, most_ms: int | None = None) -> int:
        """Take a record's timestamp (-1: it has none) and return the time at which the record is applied.

        The partition is no longer read to its end: something followed. most_ms: it cannot be later, as is known.
        """
        self.left_end()
        given_ms = self._by_broker(timestamp_ms) if by_broker else min(timestamp_ms, wall_ms + self._max_skew_ms)
        if most_ms is not None:
            given_ms = min(given_ms, most_ms)
        self._base_ms = self._now_ms = max(self._now_ms, given_ms)
        # How long ago a producer's stamp was given says nothing of how much passed until a broker's after it.
        self._ahead_ms = self._now_ms - timestamp_ms if by_broker else 0
        return self._now_ms

    def _by_broker(self, stamp_ms: int) -> int:
        set_back = stamp_ms <= self._now_ms - CLOCKS_DIFFER_MS
        return stamp_ms + self._ahead_ms if set_back else stamp_ms

    def go_on_from(self, timestamp_ms: int, time_ms: int) -> None:
        """Go on from a record that another owner applied: from its timestamp, and the time at which that was."""
        self.catch_up(time_ms)
        self._ahead_ms = time_ms - timestamp_ms if timestamp_ms >= 0 else 0

    def reached_end(self, monotonic_s: float) -> None:
        """Go on by the monotonic clock: reading has met the end, however long ago that was told. Harmless twice."""
        if self._at_end_since_s is None:
            self._base_ms, self._at_end_since_s = self._now_ms, monotonic_s

    def left_end(self) -> None:
        """Stand still: there is, or may be, something to read."""
        self._base_ms, self._at_end_since_s = self._now_ms, None

    def latest_possible_ms(self, monotonic_s: float) -> int:
        """Return how late it may be, without saying so: the time that a question asked now can confirm."""
        if self._at_end_since_s is None:
            return self._now_ms
        passed_ms = int((monotonic_s - self._at_end_since_s) * 1000)
        return max(self._now_ms, self._base_ms + passed_ms)

    def catch_up(self, known_ms: int) -> None:
        """Be no earlier than what is known to have been said before."""
        self._base_ms = self._now_ms = max(self._now_ms, known_ms)

    def confirm(self, asked_ms: int) -> None:
        """Take the leader's word that nothing more was in the log when it was asked, at ``asked_ms``."""
        self._now_ms = max(self._now_ms, asked_ms)
