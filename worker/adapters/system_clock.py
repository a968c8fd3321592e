"""The machine's clocks."""

from __future__ import annotations

import time

__all__ = ["SystemClock"]


class SystemClock:
    """Wall and monotonic time of this machine."""

    def wall_ms(self) -> int:
        """Return milliseconds since the epoch; may jump."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Return seconds that only grow."""
        return time.monotonic()

    def sleep_s(self, seconds: float) -> None:
        """Let so much time pass."""
        time.sleep(seconds)
