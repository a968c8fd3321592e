"""One page that watches: it only listens. Who cannot keep up is let go, and told so; a page comes back by itself."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from caesura.worker.service.server.client_socket import ClientGoneError, ClientSocket
from caesura.worker.service.server.messages import CloseCode, RefusalReason, ServerMessage
from caesura.worker.service.watch.subscribers import Subscribers


class WatchConnection:
    """A connection on ``/v1/watch``; ``run`` lasts as long as it does."""

    def __init__(self, client: ClientSocket, audience: Subscribers) -> None:
        self._client = client
        self._audience = audience
        self._end: tuple[int, RefusalReason, str] | None = None
        self._ending = asyncio.Event()

    def take(self, message: ServerMessage) -> None:
        """Send a message, if the page has read enough of those before."""
        if self._client.send_queue.is_full:
            self._audience.leave(self)
            self._finish(CloseCode.TOO_SLOW, RefusalReason.TOO_SLOW, "the page does not read as fast as people speak")
        else:
            self._client.send_queue.put(message)

    def drain(self) -> None:
        """Bring it to its end."""
        self._finish(CloseCode.RESTART, RefusalReason.DRAINING, "the service stops; come back")

    async def run(self) -> None:
        """Tell the page what is published until it goes, falls behind, or the service stops."""
        self._audience.join(self)
        writing = asyncio.create_task(self._client.write_all())
        listening = asyncio.create_task(self._listen())
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({writing, listening, ending}, return_when=asyncio.FIRST_COMPLETED)
            if self._end is not None:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                await self._client.close(*self._end)
        finally:
            self._audience.leave(self)
            for task in (writing, listening, ending):
                task.cancel()
            await asyncio.gather(writing, listening, ending, return_exceptions=True)

    async def _listen(self) -> None:
        with suppress(ClientGoneError):
            while True:
                await self._client.receive(None)

    def _finish(self, code: int, reason: RefusalReason, detail: str) -> None:
        self._end = self._end or (code, reason, detail)
        self._ending.set()
