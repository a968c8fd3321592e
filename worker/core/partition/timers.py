"""When a partition's sessions are due, earliest first; one entry for each session."""

from __future__ import annotations

from collections.abc import Callable


class Timers:
    """Due times of sessions. due_of: what a session is due at now, or None; asked when its entry comes up.

    A session's time mostly moves later, with each word. Its entry in the heap stays where it was, too early, and is
    put right at the top. Where its time moves earlier, its entry moves up: ``_place`` says where each stands.
    """

    __slots__ = ("_due_of", "_heap", "_place")

    def __init__(self, due_of: Callable[[str], int | None]) -> None:
        self._due_of = due_of
        self._heap: list[tuple[int, str]] = []
        self._place: dict[str, int] = {}

    def __len__(self) -> int:
        """Count the entries: at most one a session."""
        return len(self._heap)

    def update(self, session: str, due_ms: int | None) -> None:
        """Take note of what a session is due at now. O(log n) where that is earlier, else O(1)."""
        if due_ms is None:
            return
        place = self._place.get(session)
        if place is None:
            self._heap.append((due_ms, session))
            self._move_up(len(self._heap) - 1)
        elif due_ms < self._heap[place][0]:
            self._heap[place] = (due_ms, session)
            self._move_up(place)

    def next(self) -> tuple[int, str] | None:
        """Return the earliest due time and its session, by name among equals; None where nothing is due, ever."""
        while self._heap:
            entry_ms, session = self._heap[0]
            due_ms = self._due_of(session)
            if due_ms == entry_ms:
                return self._heap[0]
            if due_ms is None:
                self._drop_first()
            else:
                self._heap[0] = (due_ms, session)
                self._move_down()
        return None

    def next_by(self, time_ms: int) -> tuple[int, str] | None:
        """Return the same where it is due at ``time_ms`` or before; None where nothing is. Asks nobody in vain.

        No entry stands later than its session is due: where the first is later than asked for, all are.
        """
        if not self._heap or self._heap[0][0] > time_ms:
            return None
        due = self.next()
        return due if due is not None and due[0] <= time_ms else None

    def _drop_first(self) -> None:
        del self._place[self._heap[0][1]]
        last = self._heap.pop()
        if self._heap:
            self._heap[0] = last
            self._move_down()

    def _move_up(self, place: int) -> None:
        heap, places, entry = self._heap, self._place, self._heap[place]
        while place:
            above = (place - 1) >> 1
            moved = heap[above]
            if moved <= entry:
                break
            heap[place] = moved
            places[moved[1]] = place
            place = above
        heap[place] = entry
        places[entry[1]] = place

    def _move_down(self) -> None:
        """Bring the first entry to its place, by way of a leaf: it is mostly one of the last, and stays there."""
        heap, places, end, place, below = self._heap, self._place, len(self._heap), 0, 1
        entry = heap[0]
        while below < end:
            moved, beside = heap[below], below + 1
            if beside < end and heap[beside] < moved:
                below, moved = beside, heap[beside]
            heap[place] = moved
            places[moved[1]] = place
            place, below = below, 2 * below + 1
        heap[place] = entry
        self._move_up(place)
