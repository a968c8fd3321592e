"""Runs a web application until it is told to stop: binds first, so that a port in use is said; drains, then ends.

uvicorn waits for ever for a request, and accepts any number of sockets; ``ConnectionLimits`` bounds both.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import h11
import uvicorn
from starlette.applications import Starlette
from typing_extensions import override
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from caesura.worker.errors import FatalError
from caesura.worker.service.server.rate_limit import RateLimit
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.telemetry.connection_limits import ConnectionLimits, LimitedSocket, most_sockets
from caesura.worker.telemetry.http_server import HttpProtocol, HttpServer
from caesura.worker.telemetry.read_turns import PIECE_BYTES, ReadTurn, next_piece

_MAX_WAITING_SOCKETS = 256
"""Beside as many as may be let in: requests, and WebSockets whose opening has not come."""

_BACKLOG = 256
_PING_S, _PONG_S, _GOODBYE_S = 20.0, 60.0, 10.0
_LONGEST_CONTROL_FRAME = 131
_LONGEST_OPENING_BYTES = 65_536
_FRAMES_A_SECOND = 20
_NO_UPGRADE = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 32\r\nConnection: close\r\n\r\n"
    b"this is no upgrade to WebSocket\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A bound socket and the address to open in a browser."""

    socket: LimitedSocket
    url: str

    @property
    def doorway(self) -> ConnectionLimits:
        """Return what knows of the sockets that were accepted."""
        return self.socket.doorway


def listening(settings: ServeSettings) -> Listener:
    """Listen on the address. FatalError where it cannot be had, or certificate and key cannot be used."""
    if settings.tls_certificate:
        _refuse_unusable(settings.tls_certificate, settings.tls_key)
    host = settings.host.strip("[]")
    try:
        bound = _bound(host, settings.port)
    except OSError as error:
        raise FatalError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}") from error
    most = most_sockets(settings.max_connections + _MAX_WAITING_SOCKETS)
    bound.doorway = ConnectionLimits(most=most, within_s=settings.opening_timeout_s)
    shown = f"[{host}]" if ":" in host else host
    scheme = "https" if settings.tls_certificate else "http"
    return Listener(socket=bound, url=f"{scheme}://{shown}:{bound.getsockname()[1]}/")


def _bound(host: str, port: int) -> LimitedSocket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = LimitedSocket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


async def serve_until_stopped(
    app: Starlette,
    listener: Listener,
    settings: ServeSettings,
    *,
    drain: Callable[[], Awaitable[bool]],
    stop: asyncio.Event,
) -> None:
    """Serve until ``stop`` is set, or SIGTERM or SIGINT comes; then drain and end. A second signal does not wait."""
    server = HttpServer(_configured(app, settings, listener.doorway))
    loop = asyncio.get_running_loop()

    def asked_to_stop() -> None:
        server.should_exit = server.force_exit = stop.is_set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: its starter stops it
            loop.add_signal_handler(number, asked_to_stop)
    running = asyncio.create_task(server.serve(sockets=[listener.socket]))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not running.done():
        if not await drain():
            for connection in list(server.server_state.connections):
                connection.transport.abort()  # the drain's time is over
        server.should_exit = True
    stopping.cancel()
    await running


def _configured(app: Starlette, settings: ServeSettings, doorway: ConnectionLimits) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        proxy_headers=False,  # a client is known by its own address
        backlog=_BACKLOG,
        http=cast("type[asyncio.Protocol]", partial(_HttpProtocol, doorway)),
        ws=cast("type[asyncio.Protocol]", partial(_WebSocketProtocol, doorway)),
        ws_max_size=settings.max_message_bytes,
        ws_per_message_deflate=False,  # a kilobyte received must not become a megabyte that waits
        ws_ping_interval=_PING_S,
        ws_ping_timeout=_PONG_S,
        timeout_graceful_shutdown=1,
        ssl_certfile=settings.tls_certificate or None,
        ssl_keyfile=settings.tls_key or None,
    )
    config.load()
    return config


def _refuse_unusable(certificate: str, key: str) -> None:
    """FatalError where a certificate and its key cannot be loaded, before an address is promised that has them."""
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:  # ssl's errors are among them
        told = f"{certificate} and {key}"
        raise FatalError(f"TLS: certificate and key cannot be used ({told}): {error}") from error


class _HttpProtocol(HttpProtocol):
    """Tells the doorway of an upgrade."""

    @override
    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._doorway.upgraded(self.client)
        super().handle_websocket_upgrade(event)


class _WebSocketProtocol(WebSocketsSansIOProtocol):
    """Reads a client only as fast as it reads us, and as its frames are used; what it sends costs so much and no more.

    1. What comes is read a piece a turn (``read_turns``): small frames delay no others, however many send them.
    2. While a message waits to be used, or what was sent waits to be read, the client is not read. So pongs do not
       pile up: a client that pings and does not read them waits for itself.
    3. Frames that end no message (pings, pongs, parts) are read at their own pace, and a few before the opening.
    4. A client that has left unread what it was sent is cut off: a polite close would wait for it, and hold it all.
    5. A client counts as gone where its answer to a ping does not come, however often it pings; not while it is read
       slowly, for then its answer lies behind what it had sent before, nor while a message of it is on its way.
    """

    def __init__(self, doorway: ConnectionLimits, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._doorway = doorway
        self._unread = bytearray()
        self._parts = bytearray()
        self._turn = ReadTurn(doorway.turns, self._read)
        self._rests: asyncio.TimerHandle | None = None
        self._heard = False
        self._admitted = False
        self._frames = RateLimit(_FRAMES_A_SECOND, self.loop.time())
        self._early_bytes = 0

    @override
    def data_received(self, data: bytes) -> None:
        if not self.handshake_initiated:
            self._shake_hands(data)
            return
        self._unread += data
        self._read_on()

    def _shake_hands(self, data: bytes) -> None:
        """Take the request, which h11 has found to be whole; answer one that is no upgrade."""
        super().data_received(data)
        if self.handshake_initiated:
            self._doorway.when_let_in(self.client, self._let_in)
        else:
            self.handshake_complete = self.close_sent = True
            self.transport.write(_NO_UPGRADE)
            self.transport.close()

    def _let_in(self) -> None:
        self._admitted = True

    def _read_on(self) -> None:
        """Have a piece of what has come read in turn, unless the client is to wait; or ask for more."""
        if self.transport.is_closing():
            self._unread.clear()
            return
        if self._unread and not self._waits:
            self._turn.ask()
        if self._waits:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def _read(self) -> None:
        if self._unread and not self._waits and not self.transport.is_closing():
            piece = next_piece(self._unread)
            self._early_bytes += 0 if self._admitted else len(piece)
            super().data_received(piece)
            self._heard = self._heard or len(self.conn.reader.buffer) > _LONGEST_CONTROL_FRAME
            if self._early_bytes > _LONGEST_OPENING_BYTES and not self.read_paused:
                self.transport.abort()
                return
        self._read_on()

    @property
    def _waits(self) -> bool:
        return self._turn.is_asked or self._rests is not None or self.read_paused or not self.writable.is_set()

    def _rested(self) -> None:
        self._rests = None
        self._read_on()

    def _count_frame(self) -> None:
        """Count a frame that ends no message; after too many the client waits, before its opening it is cut off."""
        wait_s = self._frames.wait_s(1, self.loop.time())
        if wait_s and not self._admitted:
            self.transport.abort()
        elif wait_s:
            if self._rests is not None:
                self._rests.cancel()
            self._rests = self.loop.call_later(wait_s, self._rested)

    @override
    def handle_ping(self) -> None:
        self._count_frame()
        super().handle_ping()

    @override
    def handle_pong(self, event: Frame) -> None:
        self._count_frame()
        super().handle_pong(event)

    @override
    def handle_text(self, event: Frame) -> None:
        super().handle_text(event)
        self._begun(event)

    @override
    def handle_bytes(self, event: Frame) -> None:
        super().handle_bytes(event)
        self._begun(event)

    def _begun(self, event: Frame) -> None:
        self._heard = True
        self._parts = bytearray(event.data) if not event.fin else bytearray()

    @override
    def handle_cont(self, event: Frame) -> None:
        """Put a message together as its parts come: a part is kept as its bytes, and costs a frame."""
        self._parts += event.data
        if event.fin:
            self._heard = True
            self.frames = [bytes(self._parts)]
            self._parts.clear()
            self.send_receive_event_to_app()
        elif len(event.data) < PIECE_BYTES:
            self._count_frame()

    @override
    def send_receive_event_to_app(self) -> None:
        """Close where a text is none: uvicorn would write a traceback."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                self.frames[0].decode()
            except UnicodeDecodeError:
                self.conn.send_close(1007)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

    @override
    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        self._read_on()
        return message

    @override
    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.close":
            self._read_on()  # for its answer

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self.transport.pause_reading()

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        self._read_on()

    @override
    def send_keepalive_ping(self) -> None:
        self._heard = False
        super().send_keepalive_ping()

    @override
    def keepalive_timeout(self) -> None:
        if self._heard or self.read_paused or self._unread:
            self.pong_timer = self.pending_ping_payload = None
            self.schedule_ping()
        else:
            super().keepalive_timeout()

    @override
    async def run_asgi(self) -> None:
        await super().run_asgi()
        if self.writable.is_set():
            return
        if self.close_sent:  # the goodbye itself has filled the buffer, behind segments that are still on their way
            self.loop.call_later(_GOODBYE_S, self.transport.abort)
        else:
            self.transport.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._doorway.left(self.client)
        self._unread.clear()
        if self._rests is not None:
            self._rests.cancel()
        super().connection_lost(exc)
