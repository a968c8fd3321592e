"""Decides when changes may be looked at: at most once in an interval for each key. Pure; time is passed in.

    changed(key)        the key has changed
    due(now_s)          changed keys that were reported an interval ago or never, in the order of the changes
    told(key, now_s)    the key was reported; its next change waits for the interval
    forget(key)         there was nothing to report, or the key is gone

A key stays changed until ``told`` or ``forget``, or until all changes are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Generic, TypeVar

_Looked = TypeVar("_Looked", bound=Hashable)
_NEVER_S = -math.inf


class PacedLooks(Generic[_Looked]):
    """Paces the looks at any number of keys; it holds those that have changed, and those told of in the last interval.

    interval_s: the least time between two looks at a key that were told. Times are of one clock, which never goes back.
    """

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._new: dict[_Looked, None] = {}
        self._told_at_s: dict[_Looked, float] = {}

    def changed(self, key: _Looked) -> None:
        """Take note that there is something new to see."""
        self._new[key] = None

    def due(self, now_s: float) -> list[_Looked]:
        """Return what may be looked at now."""
        self._told_at_s = {key: at_s for key, at_s in self._told_at_s.items() if at_s + self._interval_s > now_s}
        return [key for key in self._new if key not in self._told_at_s]

    def due_in_s(self, now_s: float) -> float:
        """Return in how many seconds something will be due: 0 where it is now, infinity where nothing has changed."""
        last_s = min((self._told_at_s.get(key, _NEVER_S) for key in self._new), default=math.inf)
        return max(0.0, last_s + self._interval_s - now_s)

    def told(self, key: _Looked, now_s: float) -> None:
        """Take note that it was looked at and told of."""
        self._new.pop(key, None)
        self._told_at_s[key] = now_s

    def forget(self, key: _Looked) -> None:
        """Let a key go, and when it was told of: the next change of it is due at once."""
        self._new.pop(key, None)
        self._told_at_s.pop(key, None)

    def pass_over(self) -> int:
        """Let go of all that has changed without a look, and return how much it was; its pace is kept."""
        passed_over = len(self._new)
        self._new.clear()
        return passed_over
