"""One client's WebSocket: its opening, what it is sent in which form, and a close that says why."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.datastructures import Headers
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from caesura.schemas.wire import WireFormat
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.service_events import ClientRefused, UnfrozenReported
from caesura.worker.service.clients.reading import RefusedMessageError, read_opening
from caesura.worker.service.server.auth import FOREIGN_HOST, admits_host, admits_origin, admits_token
from caesura.worker.service.server.messages import (
    CloseCode,
    Closing,
    Opening,
    RefusalReason,
    Refused,
    ServeReason,
    ServerMessage,
)
from caesura.worker.service.server.send_queue import SendQueue
from caesura.worker.settings.serving import ServeSettings


class ClientGoneError(Exception):
    """The client has closed the connection, or does not read what it is sent."""


class _RefusedOpeningError(Exception):
    """The connection is closed before it began. code: the WebSocket's; reason, detail: as the client is told."""

    def __init__(self, code: int, reason: ServeReason, detail: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.detail = detail


class ClientSocket:
    """A client's end, accepted. ``open`` comes first; ``write_all`` runs beside the reader."""

    def __init__(self, socket: WebSocket, settings: ServeSettings, observer: Observer) -> None:
        self._socket = socket
        self._settings = settings
        self._wire = WireFormat.JSON
        self.observer = observer
        self.send_queue = SendQueue(
            settings.max_unsent_messages, lambda looks: observer.note(UnfrozenReported(dropped=looks))
        )

    async def open(self, within_s: float) -> Opening | None:
        """Read the opening; None where it was refused and the connection closed. ClientGoneError."""
        try:
            opening = await self._admitted_opening(self._socket.headers, within_s)
        except _RefusedOpeningError as refusal:
            await self._refuse(refusal.code, refusal.reason, refusal.detail)
            return None
        self._wire = opening.wire
        return opening

    async def refuse_opening(self, error: RefusedMessageError) -> None:
        """Say why the opening is refused after all, and close."""
        await self._refuse(CloseCode.BAD_OPENING, error.reason, error.detail)

    async def _refuse(self, code: int, reason: ServeReason, detail: str) -> None:
        self.observer.note(ClientRefused(reason=reason))
        await self._send(Refused(message=0, reason=reason, detail=detail))
        await self.close(code, reason, detail)

    async def _admitted_opening(self, headers: Headers, within_s: float) -> Opening:
        if not admits_host(headers, self._settings):
            raise _RefusedOpeningError(CloseCode.UNAUTHORISED, RefusalReason.UNKNOWN_HOST, FOREIGN_HOST)
        if not admits_origin(headers, self._settings):
            detail = "pages of this origin may not connect; serve.allowed_origins names those that may"
            raise _RefusedOpeningError(CloseCode.UNAUTHORISED, RefusalReason.UNKNOWN_ORIGIN, detail)
        try:
            opening = read_opening(await self.receive(within_s))
        except TimeoutError:
            detail = f"no opening came within {self._settings.opening_timeout_s:g} s"
            raise _RefusedOpeningError(CloseCode.BAD_OPENING, RefusalReason.OPENING_EXPECTED, detail) from None
        except RefusedMessageError as error:
            raise _RefusedOpeningError(CloseCode.BAD_OPENING, error.reason, error.detail) from None
        if not admits_token(headers, opening, self._settings):
            detail = "show the token, as `Authorization: Bearer ...` or as `token` in the first message"
            raise _RefusedOpeningError(CloseCode.UNAUTHORISED, RefusalReason.WRONG_TOKEN, detail)
        return opening

    async def receive(self, timeout_s: float | None) -> str | bytes:
        """Return the next frame. TimeoutError, ClientGoneError."""
        async with asyncio.timeout(timeout_s):
            message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            raise ClientGoneError
        text: str | None = message.get("text")
        return text if text is not None else bytes(message["bytes"])

    async def write_all(self) -> None:
        """Send what comes into the send queue until that is closed and empty. ClientGoneError."""
        while (message := await self.send_queue.next()) is not None:
            await self._send(message)

    async def close(self, code: int, reason: ServeReason, detail: str) -> None:
        """Say why, and close; harmless where the client has gone."""
        try:
            await self._send(Closing(reason=reason, detail=detail))
            async with asyncio.timeout(self._settings.send_timeout_s):
                await self._socket.close(code, reason)
        except (ClientGoneError, RuntimeError, TimeoutError, WebSocketDisconnect):
            return

    async def _send(self, message: ServerMessage) -> None:
        if self._socket.client_state is not WebSocketState.CONNECTED:
            raise ClientGoneError
        try:
            async with asyncio.timeout(self._settings.send_timeout_s):
                if self._wire is WireFormat.MSGPACK:
                    await self._socket.send_bytes(msgspec.msgpack.encode(message))
                else:
                    await self._socket.send_text(msgspec.json.encode(message).decode())
        except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError) as error:
            raise ClientGoneError from error
