"""The connections of a service: how many there may be, and how they all end. One event loop owns them.

Only connections that an opening admitted count; others take no place from them (``connection_limits``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from starlette.websockets import WebSocket

from caesura.worker.ports.observer import Observer
from caesura.worker.ports.service_events import ClientRefused, ClientsConnected
from caesura.worker.service.clients.reading import RefusedMessageError
from caesura.worker.service.server.client_socket import ClientGoneError, ClientSocket
from caesura.worker.service.server.messages import CloseCode, Closing, Opening, RefusalReason
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.telemetry.connection_limits import ConnectionLimits, Peer


class Connection(Protocol):
    """An open connection."""

    async def run(self) -> None:
        """Serve it until it ends."""
        ...

    def drain(self) -> None:
        """Bring it to its end: send what there is, say why, close."""
        ...


Maker = Callable[[int], Awaitable[Connection]]
"""Makes a connection of its number."""


class Connections:
    """Lets clients in while there is room.

    make: of a connection's number, socket and opening, which it may refuse (RefusedMessageError).
    """

    def __init__(
        self,
        settings: ServeSettings,
        make: Callable[[int, ClientSocket, Opening], Awaitable[Connection]],
        observer: Observer,
        doorway: ConnectionLimits,
    ) -> None:
        self._settings = settings
        self._make = make
        self._observer = observer
        self._doorway = doorway
        self._opening: set[asyncio.Task[Opening | None]] = set()
        self._count = 0
        self._number = 0
        self._running: set[Connection] = set()
        self._draining = False
        self._empty = asyncio.Event()

    def __len__(self) -> int:
        return self._count

    async def serve(self, socket: WebSocket) -> None:
        """Serve a client from its first byte to its last."""
        await socket.accept()
        client = ClientSocket(socket, self._settings, self._observer)
        try:
            opening = await self._opened(client, _peer(socket))
            if opening is None and not self._draining:
                return
            if (closing := self.turned_away()) is not None:
                self._observer.note(ClientRefused(reason=closing.reason))
                code = CloseCode.RESTART if closing.reason is RefusalReason.DRAINING else CloseCode.TRY_AGAIN
                await client.close(code, closing.reason, closing.detail)
            elif opening is not None:
                try:
                    await self.admit(lambda number: self._make(number, client, opening), _peer(socket))
                except RefusedMessageError as error:
                    await client.refuse_opening(error)
        except ClientGoneError:
            return

    def turned_away(self) -> Closing | None:
        """Return why no client is admitted now; None: one may be."""
        if self._draining:
            closing = Closing(reason=RefusalReason.DRAINING, detail="the service stops; try again")
        elif self._count >= self._settings.max_connections:
            detail = f"{self._settings.max_connections} clients are connected, the most there may be; try again"
            closing = Closing(reason=RefusalReason.TOO_MANY_CONNECTIONS, detail=detail)
        else:
            return None
        return closing

    def left_s(self, peer: Peer | None) -> float:
        """Return how long a request may still take."""
        return self._doorway.left_s(peer)

    async def _opened(self, client: ClientSocket, peer: Peer | None) -> Opening | None:
        """Return a client's opening; None where it was refused, or the service stops and waits for none."""
        if self._draining:
            return None
        opening = asyncio.create_task(client.open(self._doorway.left_s(peer)))
        self._opening.add(opening)
        try:
            await asyncio.wait({opening})
            return None if opening.cancelled() else opening.result()
        finally:
            opening.cancel()
            self._opening.discard(opening)

    def admit(self, make: Maker, peer: Peer | None = None) -> Coroutine[Any, Any, None]:
        """Admit a client, which counts from now on; what is returned serves it. make: its connection, of its number."""
        self._doorway.let_in(peer)
        self._counted(1)
        self._empty.clear()
        return self._serve(make, peer)

    async def _serve(self, make: Maker, peer: Peer | None) -> None:
        try:
            await self._run(make)
        finally:
            self._doorway.let_out(peer)
            self._counted(-1)
            if not self._count:
                self._empty.set()

    def _counted(self, more: int) -> None:
        self._count += more
        self._observer.note(ClientsConnected(count=self._count))

    async def _run(self, make: Maker) -> None:
        self._number += 1
        connection = await make(self._number)
        self._running.add(connection)
        if self._draining:
            connection.drain()
        try:
            await connection.run()
        finally:
            self._running.discard(connection)

    async def drain(self) -> bool:
        """Admit no more connections and end all; return whether all ended in time.

        A connection without an opening is told and not waited for.
        """
        self._draining = True
        for opening in list(self._opening):
            opening.cancel()
        for connection in list(self._running):
            connection.drain()
        try:
            async with asyncio.timeout(self._settings.drain_timeout_s):
                while self._count:
                    await self._empty.wait()
        except TimeoutError:
            return False
        return True


def _peer(socket: WebSocket) -> Peer | None:
    return None if socket.client is None else (socket.client.host, socket.client.port)
