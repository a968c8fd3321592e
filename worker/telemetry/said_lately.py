"""What was said lately: a fault that lasts is told again and again, and the log says it once in a while."""

from __future__ import annotations

from collections.abc import Hashable

__all__ = ["SaidLately"]


class SaidLately:
    """Remembers when each thing was last said. within_s: how long that is lately; most: how many things are kept."""

    def __init__(self, *, within_s: float, most: int = 200) -> None:
        self._within_s = within_s
        self._most = most
        self._said_s: dict[Hashable, float] = {}

    def asked(self, what: Hashable, now_s: float) -> bool:
        """Tell whether ``what`` was said lately; where it was not, it counts as said now."""
        if 0 <= now_s - self._said_s.get(what, float("-inf")) < self._within_s:
            return True
        if len(self._said_s) >= self._most:
            self._said_s.clear()
        self._said_s[what] = now_s
        return False
