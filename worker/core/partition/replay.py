"""The partition's replay offset: the smallest one that any of its sessions needs, kept up as sessions move on."""

from __future__ import annotations

import heapq

__all__ = ["ReplayOffsets"]

_SLACK = 64


class ReplayOffsets:
    """The smallest of many slowly growing offsets. Setting one costs O(log n), the smallest O(1), both amortised."""

    __slots__ = ("_heap", "_offsets")

    def __init__(self) -> None:
        self._offsets: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []

    def set(self, session: str, offset: int | None) -> None:
        """Take a session's offset; None: it needs nothing."""
        if offset is None:
            self._offsets.pop(session, None)
            return
        if self._offsets.get(session) == offset:
            return
        self._offsets[session] = offset
        heapq.heappush(self._heap, (offset, session))
        if len(self._heap) > 4 * len(self._offsets) + _SLACK:
            # One session that stands still would keep every outdated entry of the others alive below it.
            self._heap = [(own, name) for name, own in self._offsets.items()]
            heapq.heapify(self._heap)

    @property
    def smallest(self) -> int | None:
        """Return the smallest offset; None where no session needs any."""
        while self._heap and self._offsets.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None
