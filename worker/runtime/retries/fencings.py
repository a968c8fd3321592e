"""How often lately somebody else began to use this worker's transactional id: two live workers of one ordinal."""

from __future__ import annotations

from collections import deque

from caesura.worker.ports.clock import Clock

__all__ = ["Fencings"]

_MOST = 5
_WITHIN_S = 30.0


class Fencings:
    """Counts over a window, commits between them or not: two that fence each other by turns both commit now and then.

    Whoever comes to the limit first stops, without making its producer anew, so that the other one is fenced no more.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at_s: deque[float] = deque(maxlen=_MOST)

    def another(self) -> bool:
        """Count one more; tell whether that is too many for a peer that ended what a dead worker left open."""
        self._at_s.append(self._clock.monotonic_s())
        return len(self._at_s) == _MOST and self._at_s[-1] - self._at_s[0] <= _WITHIN_S
