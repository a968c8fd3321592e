"""A partition's time: what its records say, so that neither a backlog nor a skewed clock looks like silence.

Rules (docs/design.md, *Silence*):

1. It is the largest record timestamp so far. One that the broker gave (``LogAppendTime``) counts as it stands; one of a
   producer's as at most the worker's wall clock plus ``max_skew_ms``.
2. Beyond that only the leader's word brings it forward: that nothing more was in the log, asked for when it was so late
   (``confirm``). How late it may be is the time of the last record, going on by the monotonic clock since reading met
   the end: the broker's clock is never behind that.
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
        """Tell whether reading has met the end, so that the monotonic clock says how late it may be."""
        return self._at_end_since_s is not None

    @property
    def said_ms(self) -> int:
        """Return the partition's time: whatever is due by now may be fired, whatever is read next."""
        return self._said_ms

    def observe(self, timestamp_ms: int, wall_ms: int, *, by_broker: bool) -> int:
        """Take a record's timestamp (-1: it has none) and return the time at which the record is applied.

        The partition is no longer read to its end: something followed.
        """
        self.left_end()
        given_ms = timestamp_ms if by_broker else min(timestamp_ms, wall_ms + self._max_skew_ms)
        self._base_ms = self._said_ms = max(self._said_ms, given_ms)
        return self._said_ms

    def reached_end(self, monotonic_s: float) -> None:
        """Go on by the monotonic clock: reading has met the end, however long ago that was told. Harmless twice."""
        if self._at_end_since_s is None:
            self._base_ms, self._at_end_since_s = self._said_ms, monotonic_s

    def left_end(self) -> None:
        """Stand still: there is, or may be, something to read."""
        self._base_ms, self._at_end_since_s = self._said_ms, None

    def may_be_ms(self, monotonic_s: float) -> int:
        """Return how late it may be, without saying so: the time that a question asked now can confirm."""
        if self._at_end_since_s is None:
            return self._said_ms
        passed_ms = int((monotonic_s - self._at_end_since_s) * 1000)
        return max(self._said_ms, self._base_ms + passed_ms)

    def catch_up(self, known_ms: int) -> None:
        """Be no earlier than what is known to have been said before."""
        self._base_ms = self._said_ms = max(self._said_ms, known_ms)

    def confirm(self, asked_ms: int) -> None:
        """Take the leader's word that nothing more was in the log when it was asked, at ``asked_ms``."""
        self._said_ms = max(self._said_ms, asked_ms)
