"""What waits to be sent to one client: segments in order, and of each session at most its latest unfrozen words.

Newer unfrozen words replace older ones, and while segments wait no unfrozen words are kept. Everything else is sent.
``has_room`` tells the reader of the socket when to stop taking words. One event loop owns a send queue.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from caesura.worker.service.server.messages import ServerMessage, TentativeMessage


class SendQueue:
    """Messages on their way to a client. limit: so many, and there is no room for more.

    on_give_way: is told how many looks at unfrozen words give way to something else.
    """

    def __init__(self, limit: int, on_give_way: Callable[[int], None] = lambda _: None) -> None:
        self._limit = limit
        self._on_give_way = on_give_way
        self._firm: deque[ServerMessage] = deque()
        self._looks: dict[str, TentativeMessage] = {}
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._closed = False

    @property
    def is_full(self) -> bool:
        """Tell whether there is no room for more."""
        return not self._room.is_set()

    def put(self, message: ServerMessage) -> None:
        """Take a message; tentative words replace those of their session, or give way."""
        if isinstance(message, TentativeMessage):
            name = message.tentative.session
            if name in self._looks or not self._room.is_set():
                self._on_give_way(1)
            if self._room.is_set():
                self._looks[name] = message
        else:
            self._firm.append(message)
            if len(self._firm) >= self._limit:
                self._room.clear()
                self._on_give_way(len(self._looks))
                self._looks.clear()
        self._changed.set()

    def close(self) -> None:
        """Take nothing more; ``next`` gives what is there, then None."""
        self._closed = True
        self._changed.set()

    async def has_room(self) -> None:
        """Wait until messages can be taken again."""
        await self._room.wait()

    async def next(self) -> ServerMessage | None:
        """Return the next message to send, waiting for one; None: it is closed and empty."""
        while True:
            if self._firm:
                message = self._firm.popleft()
                if len(self._firm) <= self._limit // 2:
                    self._room.set()
                return message
            if self._looks and not self._closed:
                return self._looks.pop(next(iter(self._looks)))
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
