"""Runs a web application until it is told to stop: binds first, so that a port in use is said; drains, then ends.

uvicorn would wait for ever for a request that does not come, and accept sockets without end: ``Doorway`` does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import h11
import uvicorn
from starlette.applications import Starlette
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from worker.errors import FatalError
from worker.service.doorway import Doorway, DoorwaySocket, most_sockets
from worker.settings.serving import ServeSettings

__all__ = ["Listener", "listening", "serve_until_stopped"]

_MAX_WAITING_SOCKETS = 256
"""Beside as many as may be let in: requests, and WebSockets whose opening has not come."""

_BACKLOG = 256
_PING_S, _PONG_S, _GOODBYE_S = 20.0, 60.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A bound socket and the address to open in a browser."""

    socket: DoorwaySocket
    url: str

    @property
    def doorway(self) -> Doorway:
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
    bound.doorway = Doorway(most=most, within_s=settings.opening_timeout_s)
    shown = f"[{host}]" if ":" in host else host
    scheme = "https" if settings.tls_certificate else "http"
    return Listener(socket=bound, url=f"{scheme}://{shown}:{bound.getsockname()[1]}/")


def _bound(host: str, port: int) -> DoorwaySocket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = DoorwaySocket(family, kind, protocol)
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
    server = _Server(_configured(app, settings, listener.doorway))
    loop = asyncio.get_running_loop()

    def asked_to_stop() -> None:
        server.should_exit = server.force_exit = stop.is_set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: whoever started it stops it
            loop.add_signal_handler(number, asked_to_stop)
    running = asyncio.create_task(server.serve(sockets=[listener.socket]))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not running.done():
        await drain()
        server.should_exit = True
    stopping.cancel()
    await running


def _configured(app: Starlette, settings: ServeSettings, doorway: Doorway) -> uvicorn.Config:
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


class _HttpProtocol(H11Protocol):
    """Tells the doorway of its requests."""

    def __init__(self, doorway: Doorway, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._doorway = doorway

    @override
    def on_response_complete(self) -> None:
        self._doorway.answered(self.client)
        super().on_response_complete()

    @override
    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._doorway.upgraded(self.client)
        super().handle_websocket_upgrade(event)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._doorway.left(self.client)
        super().connection_lost(exc)


class _WebSocketProtocol(WebSocketsSansIOProtocol):
    """Cuts off a client that has left unread what it was sent: a polite close would wait for it, and hold it all.

    A client that is read slowly is not taken for gone: its answer to a ping lies behind what it had sent before.
    """

    def __init__(self, doorway: Doorway, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._doorway = doorway
        self._heard = False

    @override
    def data_received(self, data: bytes) -> None:
        self._heard = True
        super().data_received(data)

    @override
    def send_keepalive_ping(self) -> None:
        self._heard = False
        super().send_keepalive_ping()

    @override
    def keepalive_timeout(self) -> None:
        if self._heard or self.read_paused:
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
        super().connection_lost(exc)


class _Server(uvicorn.Server):
    """Leaves the signals to us: they mean to drain first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
