"""A partition's time: what its records say, so that neither a backlog nor a skewed clock looks like silence.

Rules (DESIGN section 2, *Silence*):

1. It is the largest record timestamp so far, each taken as at most the worker's wall clock plus ``max_skew_ms``.
2. It goes on by the monotonic clock only while the partition is read to its end; a record ends that.
3. It never goes back behind what it said; time that passed unsaid before a record came does not count.
"""

from __future__ import annotations

__all__ = ["PartitionTime"]


class PartitionTime:
    """The time of one partition, in milliseconds since the epoch. start_ms: the latest known when it was claimed."""

    __slots__ = ("_at_end_since_s", "_base_ms", "_max_skew_ms", "_said_ms")

    def __init__(self, *, max_skew_ms: int, start_ms: int = 0) -> None:
        self._max_skew_ms = max_skew_ms
        self._base_ms = start_ms
        self._said_ms = start_ms
        self._at_end_since_s: float | None = None

    @property
    def is_at_end(self) -> bool:
        """Tell whether time goes on by the monotonic clock."""
        return self._at_end_since_s is not None

    def observe(self, timestamp_ms: int, wall_ms: int) -> int:
        """Take a record's timestamp (-1: it has none) and return the time at which the record is applied.

        The partition is no longer read to its end: something followed.
        """
        self.left_end()
        self._base_ms = self._said_ms = max(self._said_ms, min(timestamp_ms, wall_ms + self._max_skew_ms))
        return self._said_ms

    def reached_end(self, monotonic_s: float) -> None:
        """Go on by the monotonic clock: the leader said that there is nothing more to read. Harmless twice."""
        if self._at_end_since_s is None:
            self._base_ms, self._at_end_since_s = self._said_ms, monotonic_s

    def left_end(self) -> None:
        """Stand still: there is, or may be, something to read."""
        self._base_ms, self._at_end_since_s = self._said_ms, None

    def now_ms(self, monotonic_s: float) -> int:
        """Return the partition's time, and hold on to it: it never goes back behind what was said."""
        self._said_ms = self.peek_ms(monotonic_s)
        return self._said_ms

    def peek_ms(self, monotonic_s: float) -> int:
        """Return what ``now_ms`` would say, without saying it: the end may turn out not to be the end any more.

        Whoever asks only to see whether a confirmation of the end is worth its while asks here. A record that was on
        its way meanwhile is then still applied at its own time, and does not find a silence that never was.
        """
        if self._at_end_since_s is None:
            return self._said_ms
        passed_ms = int((monotonic_s - self._at_end_since_s) * 1000)
        return max(self._said_ms, self._base_ms + passed_ms)
