"""Sessions whose work is not done: which labels they want, and what they froze (``worker.core.partition``).

Under one name two sessions may wait, a forgotten one and the one that began anew: the older finishes first.
"""

from __future__ import annotations

from collections import deque

from worker.core.batching import PendingLabels
from worker.core.labelling import LabelRequest, Labels
from worker.core.segment_writer import OutSegment
from worker.core.session import Session

__all__ = ["SessionWork"]


class SessionWork:
    """The busy sessions of one partition, by name, and the segments that nobody has taken yet."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._busy: dict[str, deque[Session]] = {}
        self._segments: list[OutSegment] = []

    def __bool__(self) -> bool:
        """Tell whether any session has work that is not done."""
        return bool(self._busy)

    def __contains__(self, key: str) -> bool:
        """Tell whether sessions of this name have work that is not done."""
        return key in self._busy

    def add(self, key: str, session: Session) -> None:
        """Take note of a session, which may be busy."""
        busy = self._busy.get(key)
        if session.is_busy and (busy is None or session not in busy):
            self._busy.setdefault(key, deque()).append(session)

    def drop(self, key: str) -> None:
        """Drop the work of all sessions of this name, and their segments not taken yet."""
        self._busy.pop(key, None)
        self._segments = [one for one in self._segments if one.segment.session != key]

    def waiting(self, now_ms: int) -> list[PendingLabels]:
        """Work wherever no labels are wanted yet, and return what is wanted. now_ms: wall clock."""
        pending = []
        for key in list(self._busy):
            if (wanting := self._advance(key, now_ms)) is not None:
                session, request = wanting
                wanted = PendingLabels(
                    partition=self._partition,
                    request=request,
                    waiting_since_ms=session.waiting_since_ms,
                    queued_words=session.queued_words,
                )
                pending.append(wanted)
        return pending

    def resolve(self, key: str, labels: Labels, now_ms: int) -> None:
        """Give a session the labels it wants. ValueError where they are not one pair a word. now_ms: wall clock."""
        self._busy[key][0].resolve(labels, now_ms)
        self._advance(key, now_ms)

    def fall_back(self, key: str, now_ms: int) -> None:
        """Let a session go on without the labels it wants: its buffer freezes unlabelled, cause ``fallback``."""
        self._busy[key][0].fall_back(now_ms)
        self._advance(key, now_ms)

    def take_segments(self) -> list[OutSegment]:
        """Return the segments that froze since the last call, each session's in order."""
        taken, self._segments = self._segments, []
        return taken

    def queued_words(self, key: str) -> int | None:
        """Return how many words of a session wait for labels behind the running work; None where it has no work."""
        busy = self._busy.get(key)
        return None if busy is None else sum(session.queued_words for session in busy)

    def _advance(self, key: str, now_ms: int) -> tuple[Session, LabelRequest] | None:
        """Work on the oldest session of this name until it wants labels; return both, or None when all is done."""
        busy = self._busy[key]
        while busy:
            session = busy[0]
            request = session.request(now_ms)
            self._segments.extend(session.take_segments())
            if request is not None:
                return session, request
            busy.popleft()
        del self._busy[key]
        return None
