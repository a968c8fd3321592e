"""Whether this worker lives and whether it is ready: written by the loop, read by the HTTP server's threads.

Alive: the loop has turned within ``max_still_s``; before its first turn, within ``max_start_s`` of the process's start.
Ready: the loop gave no reason against it at its last turn, and is alive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

__all__ = ["Health"]


class Health:
    """Thread-safe. ``monotonic_s`` is the clock."""

    def __init__(
        self, monotonic_s: Callable[[], float], *, max_still_s: float = 30.0, max_start_s: float = 120.0
    ) -> None:
        self._monotonic_s = monotonic_s
        self._max_still_s = max_still_s
        self._max_start_s = max_start_s
        self._lock = threading.Lock()
        self._moved_at_s = monotonic_s()
        self._started = False
        self._unready: tuple[str, ...] = ("starting",)

    def loop_moved(self) -> None:
        """Note a turn of the loop."""
        with self._lock:
            self._moved_at_s = self._monotonic_s()
            self._started = True

    def set_unready(self, reasons: Sequence[str]) -> None:
        """Note every reason against being ready; none: it is."""
        with self._lock:
            self._unready = tuple(reasons)

    def why_not_alive(self) -> tuple[str, ...]:
        """Return the reasons why this process should be restarted; none: it is alive."""
        with self._lock:
            still_s = self._monotonic_s() - self._moved_at_s
            started = self._started
        if still_s <= (self._max_still_s if started else self._max_start_s):
            return ()
        return (f"the loop has {'stood still' if started else 'not begun'} for {still_s:.0f} s",)

    def why_not_ready(self) -> tuple[str, ...]:
        """Return the reasons why this worker should not count as ready; none: it is."""
        with self._lock:
            unready = self._unready
        return unready + self.why_not_alive()
