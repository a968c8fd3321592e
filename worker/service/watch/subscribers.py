"""Everybody who watches: a message goes to all, and who comes later is told what was published lately."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Protocol

from caesura.worker.service.server.messages import SegmentMessage, ServerMessage

_MOST_SESSIONS = 48
_MOST_SEGMENTS = 120


class Watcher(Protocol):
    """Somebody who watches."""

    def take(self, message: ServerMessage) -> None:
        """Take a message. Must not block."""
        ...


class Subscribers:
    """The watchers, and the last segments of the last sessions. One event loop owns it."""

    def __init__(self) -> None:
        self._watchers: set[Watcher] = set()
        self._lately: OrderedDict[str, deque[SegmentMessage]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._watchers)

    def join(self, watcher: Watcher) -> None:
        """Tell a newcomer what was published lately, and from now on everything."""
        for segments in self._lately.values():
            for message in segments:
                watcher.take(message)
        self._watchers.add(watcher)

    def leave(self, watcher: Watcher) -> None:
        """Tell somebody no more; harmless twice."""
        self._watchers.discard(watcher)

    def tell(self, message: ServerMessage) -> None:
        """Tell everybody."""
        if isinstance(message, SegmentMessage):
            self._remember(message)
        for watcher in list(self._watchers):
            watcher.take(message)

    def _remember(self, message: SegmentMessage) -> None:
        name = message.segment.session
        self._lately.setdefault(name, deque(maxlen=_MOST_SEGMENTS)).append(message)
        self._lately.move_to_end(name)
        while len(self._lately) > _MOST_SESSIONS:
            self._lately.popitem(last=False)
