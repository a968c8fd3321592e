"""Counts how often another producer took this worker's transactional id: a sign of two workers with one ordinal."""

from __future__ import annotations

from collections import deque

from caesura.worker.ports.clock import Clock

_MOST = 5
_WITHIN_S = 30.0


class Fencings:
    """Counts fencings within a window. Commits do not reset it, because two such workers both commit now and then.

    The worker that reaches the limit first stops without a new producer, so the other one is fenced no more.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at_s: deque[float] = deque(maxlen=_MOST)

    def add(self) -> bool:
        """Count one; tell whether it is too many to come from claims that end a dead worker's transactions."""
        self._at_s.append(self._clock.monotonic_s())
        return len(self._at_s) == _MOST and self._at_s[-1] - self._at_s[0] <= _WITHIN_S
