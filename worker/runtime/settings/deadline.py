"""A deadline for several calls together."""

from __future__ import annotations

from typing import Self

from caesura.worker.ports.clock import Clock


class Deadline:
    """A point in monotonic time that the calls of one undertaking share."""

    __slots__ = ("_clock", "_ends_at_s")

    def __init__(self, clock: Clock, ends_at_s: float) -> None:
        self._clock = clock
        self._ends_at_s = ends_at_s

    @classmethod
    def after(cls, clock: Clock, seconds: float) -> Self:
        """Return the deadline so many seconds from now."""
        return cls(clock, clock.monotonic_s() + seconds)

    @property
    def left_s(self) -> float:
        """Seconds left, never negative: fit to be a call's time-out."""
        return max(0.0, self._ends_at_s - self._clock.monotonic_s())

    @property
    def passed(self) -> bool:
        """Tell whether nothing is left."""
        return self.left_s <= 0.0
