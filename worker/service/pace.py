"""How fast a connection is read: so many words a second in the long run, and a burst at first. Time is passed in."""

from __future__ import annotations

__all__ = ["WordPace"]

_BURST_S = 10.0


class WordPace:
    """A bucket of words that fills at the pace allowed."""

    def __init__(self, words_per_second: int, now_s: float) -> None:
        self._rate = words_per_second
        self._most = words_per_second * _BURST_S
        self._left = self._most
        self._at_s = now_s

    def wait_s(self, words: int, now_s: float) -> float:
        """Take so many words from the bucket; return how long to wait before the next message is read."""
        self._left = min(self._most, self._left + (now_s - self._at_s) * self._rate) - words
        self._at_s = now_s
        return max(0.0, -self._left / self._rate)
