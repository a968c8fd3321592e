"""The connections of a service: how many there may be, and how they all end. One event loop owns them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.websockets import WebSocket

from worker.ports.observer import Observer
from worker.ports.service_events import ClientRefused, ClientsConnected
from worker.service.messages import CloseCode, Opening, RefusalReason
from worker.service.socket import ClientGoneError, ClientSocket
from worker.settings.serving import ServeSettings

__all__ = ["Connection", "Connections"]


class Connection(Protocol):
    """An open connection."""

    async def run(self) -> None:
        """Serve it until it ends."""
        ...

    def drain(self) -> None:
        """Bring it to its end: send what there is, say why, close."""
        ...


class Connections:
    """Lets clients in while there is room. make: of a connection's number, socket and opening."""

    def __init__(
        self,
        settings: ServeSettings,
        make: Callable[[int, ClientSocket, Opening], Awaitable[Connection]],
        observer: Observer,
    ) -> None:
        self._settings = settings
        self._make = make
        self._observer = observer
        self._count = 0
        self._number = 0
        self._running: set[Connection] = set()
        self._draining = False
        self._empty = asyncio.Event()

    def __len__(self) -> int:
        return self._count

    async def serve(self, socket: WebSocket) -> None:
        """Serve a client from its first byte to its last."""
        client = ClientSocket(socket, self._settings, self._observer)
        if self._draining or self._count >= self._settings.max_connections:
            await socket.accept()
            reason = RefusalReason.DRAINING if self._draining else RefusalReason.TOO_MANY_CONNECTIONS
            self._observer.note(ClientRefused(reason=reason))
            if self._draining:
                await client.close(CloseCode.RESTART, reason, "the service stops; try again")
            else:
                detail = f"{self._settings.max_connections} clients are connected, the most there may be; try again"
                await client.close(CloseCode.TRY_AGAIN, reason, detail)
            return
        self._counted(1)
        self._empty.clear()
        try:
            opening = await client.open()
            if opening is not None:
                await self._run(client, opening)
        except ClientGoneError:
            return
        finally:
            self._counted(-1)
            if not self._count:
                self._empty.set()

    def _counted(self, more: int) -> None:
        self._count += more
        self._observer.note(ClientsConnected(count=self._count))

    async def _run(self, client: ClientSocket, opening: Opening) -> None:
        self._number += 1
        connection = await self._make(self._number, client, opening)
        self._running.add(connection)
        if self._draining:
            connection.drain()
        try:
            await connection.run()
        finally:
            self._running.discard(connection)

    async def drain(self) -> bool:
        """Let nobody in, bring every connection to its end; return whether all ended in time."""
        self._draining = True
        for connection in list(self._running):
            connection.drain()
        try:
            async with asyncio.timeout(self._settings.drain_timeout_s):
                while self._count:
                    await self._empty.wait()
        except TimeoutError:
            return False
        return True
