"""The busy sessions of a partition: which labels they want, and the segments that froze (``partition``).

Rules:

1. Two sessions of one name may wait: a forgotten one and its successor. The older one finishes first.
2. A session is worked on when its labels have come, and in ``waiting`` if more was queued for it. Other sessions are
   not looked at, because what they want is known. If work on a session was interrupted by an exception (a user of the
   library may go on after Ctrl-C), it is not known, and the session is looked at again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from caesura.schemas.labels import Labels
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.core.session.batching import LabelQueue, PendingLabels
from caesura.worker.core.session.session import Session


class SessionWork:
    """The busy sessions of one partition, by name, and the segments that were not taken yet."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._busy: dict[str, deque[Session]] = {}
        self._wanted = LabelQueue()
        self._segments: list[OutSegment] = []
        self.rested: set[str] = set()
        """Names whose work was done since somebody last cleared this."""

    def __bool__(self) -> bool:
        """Tell whether any session has unfinished work."""
        return bool(self._busy)

    def __contains__(self, key: str) -> bool:
        """Tell whether sessions of this name have unfinished work."""
        return key in self._busy

    def add(self, key: str, session: Session) -> None:
        """Note a session, which may be busy."""
        busy = self._busy.get(key)
        if session.is_busy:
            self._wanted.ask(key)
            if busy is None:
                self._busy[key] = deque((session,))
            elif session not in busy:
                busy.append(session)

    def drop(self, key: str) -> None:
        """Drop the work of all sessions of this name, and their segments not taken yet."""
        self._busy.pop(key, None)
        self._wanted.drop(key)
        self._segments = [one for one in self._segments if one.segment.session != key]

    def waiting(self, now_ms: int, enough: Callable[[], bool] = lambda: False) -> LabelQueue:
        """Work on sessions whose request is unknown, until ``enough``, and return all requests. now_ms: wall clock."""
        for key in list(self._wanted.unsure):
            self._advance(key, now_ms)
            if enough():
                break
        return self._wanted

    def resolve(self, key: str, labels: Labels, now_ms: int) -> None:
        """Give a session its labels. now_ms: wall clock. ValueError if there is not one of each kind for each word."""
        self._answered(key).resolve(labels, now_ms)
        self._advance(key, now_ms)

    def fall_back(self, key: str, now_ms: int) -> None:
        """Let a session go on without labels: its buffer freezes unlabelled, cause ``fallback``."""
        self._answered(key).fall_back(now_ms)
        self._advance(key, now_ms)

    @property
    def has_segments(self) -> bool:
        """Tell whether segments froze since the last call of ``take_segments``."""
        return bool(self._segments)

    def take_segments(self) -> list[OutSegment]:
        """Return the segments that froze since the last call, each session's in order."""
        taken, self._segments = self._segments, []
        return taken

    def queued_words(self, key: str) -> int | None:
        """Return how many words of a session wait for the running work; None if it has no work."""
        busy = self._busy.get(key)
        return None if busy is None else sum(session.queued_words for session in busy)

    def _answered(self, key: str) -> Session:
        """Return the session of this name that wants labels, and mark its next request as unknown."""
        session = self._busy[key][0]
        self._wanted.ask(key)
        return session

    def _advance(self, key: str, now_ms: int) -> None:
        """Work on the oldest session of this name until it needs labels; note the request, or that all is done."""
        busy = self._busy.get(key)
        while busy:
            session = busy[0]
            request = session.request(now_ms)
            self._segments.extend(session.take_segments())
            if request is not None:
                self._wanted.put(
                    PendingLabels(
                        partition=self._partition,
                        request=request,
                        waiting_since_ms=session.waiting_since_ms,
                        queued_words=session.queued_words,
                    )
                )
                return
            busy.popleft()
        self._busy.pop(key, None)
        self.rested.add(key)
        self._wanted.drop(key)
