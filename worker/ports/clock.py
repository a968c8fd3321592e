"""Time, passed in."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Time, passed in so that tests own it."""

    def wall_ms(self) -> int:
        """Return milliseconds since the epoch; may jump."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds that only grow."""
        ...

    def sleep_s(self, seconds: float) -> None:
        """Let so much time pass. Blocks."""
        ...
