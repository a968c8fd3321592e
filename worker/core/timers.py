"""When sessions of a partition are due, earliest first; a due time that moved on is corrected when it comes up."""

from __future__ import annotations

import heapq
from collections.abc import Callable

__all__ = ["Timers"]


class Timers:
    """Due times of sessions. due_of: what a session is due at now, or None; asked when its entry comes up.

    A session's time mostly moves later, with each word. Its entry in the heap stays where it was, too early, and is
    put right at the top: one entry a session, not one an event.
    """

    __slots__ = ("_due_of", "_entry", "_heap")

    def __init__(self, due_of: Callable[[str], int | None]) -> None:
        self._due_of = due_of
        self._entry: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []

    def update(self, session: str) -> None:
        """Take note that a session's due time may have changed."""
        due_ms, entry_ms = self._due_of(session), self._entry.get(session)
        if due_ms is not None and (entry_ms is None or due_ms < entry_ms):
            self._entry[session] = due_ms
            heapq.heappush(self._heap, (due_ms, session))

    def next(self) -> tuple[int, str] | None:
        """Return the earliest due time and its session, by name among equals; None where nothing is due, ever."""
        while self._heap:
            entry_ms, session = self._heap[0]
            if self._entry.get(session) != entry_ms:
                heapq.heappop(self._heap)
                continue
            due_ms = self._due_of(session)
            if due_ms == entry_ms:
                return entry_ms, session
            heapq.heappop(self._heap)
            del self._entry[session]
            self.update(session)
        return None
