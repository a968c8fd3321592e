"""How fast a connection is read: so much a second in the long run, and a burst at first. Time is passed in."""

from __future__ import annotations

_BURST_S = 10.0


class RateLimit:
    """A bucket that fills at the rate allowed; rate: of words, of frames, or of processor time, a second."""

    def __init__(self, rate: float, now_s: float, *, burst_s: float = _BURST_S) -> None:
        self._rate = rate
        self._most = rate * burst_s
        self._left = self._most
        self._at_s = now_s

    def wait_s(self, amount: float, now_s: float) -> float:
        """Take so much from the bucket; return how long to wait before more is read."""
        self._left = min(self._most, self._left + (now_s - self._at_s) * self._rate) - amount
        self._at_s = now_s
        return max(0.0, -self._left / self._rate)

    def used(self, now_s: float) -> float:
        """Return how much was taken lately: 0 of one that has rested."""
        return max(0.0, self._most - self._left - (now_s - self._at_s) * self._rate)
