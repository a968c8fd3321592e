"""Whether this worker has started, is alive, and is ready. The loop writes it; the HTTP server's threads read it.

Started: its models are loaded and warm, and the loop has begun; it may still wait for brokers.
Alive: the loop, or an inference, has made progress within ``max_still_s``, and no turn has taken longer than
``max_turn_s``. Before the start: the process is younger than ``max_start_s``.
Ready: the loop's last turn gave no reason against it, and the worker is alive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence


class Health:
    """Thread-safe. ``monotonic_s`` is the clock; the bounds are those that a worker's default settings make."""

    def __init__(
        self,
        monotonic_s: Callable[[], float],
        *,
        max_still_s: float = 30.0,
        max_turn_s: float = 60.0,
        max_start_s: float = 120.0,
    ) -> None:
        self._monotonic_s = monotonic_s
        self._max_still_s = max_still_s
        self._max_turn_s = max(max_turn_s, max_still_s)
        self._max_start_s = max_start_s
        self._lock = threading.Lock()
        self._turned_at_s = self._moved_at_s = monotonic_s()
        self._started = False
        self._unready: tuple[str, ...] = ("starting",)

    def started(self) -> None:
        """Note that all is made that needs no other service, and that the loop starts next."""
        self.loop_moved()

    def loop_moved(self) -> None:
        """Note a turn of the loop, or a round of its waiting for brokers."""
        with self._lock:
            self._turned_at_s = self._moved_at_s = self._monotonic_s()
            self._started = True

    def went_on(self) -> None:
        """Note that the loop goes on within its turn, which is a long one."""
        with self._lock:
            self._moved_at_s = self._monotonic_s()

    def set_unready(self, reasons: Sequence[str]) -> None:
        """Note every reason against being ready; none: it is."""
        with self._lock:
            self._unready = tuple(reasons)

    def why_not_started(self) -> tuple[str, ...]:
        """Return the reason why this process counts as starting still; none: it has started, for good."""
        with self._lock:
            if self._started:
                return ()
            return (f"no model is loaded and warm yet, for {self._monotonic_s() - self._turned_at_s:.0f} s",)

    def why_not_alive(self) -> tuple[str, ...]:
        """Return the reasons why this process should be restarted; none: it is alive."""
        with self._lock:
            now_s = self._monotonic_s()
            turn_s, still_s, started = now_s - self._turned_at_s, now_s - self._moved_at_s, self._started
        if not started:
            return () if turn_s <= self._max_start_s else (f"the loop has not begun for {turn_s:.0f} s",)
        if still_s > self._max_still_s:
            return (f"the loop has stood still for {still_s:.0f} s",)
        if turn_s > self._max_turn_s:
            return (f"a turn of the loop has taken {turn_s:.0f} s",)
        return ()

    def why_not_ready(self) -> tuple[str, ...]:
        """Return the reasons why this worker should not count as ready; none: it is."""
        with self._lock:
            unready = self._unready
        return unready + self.why_not_alive()
