"""Serves ``/metrics`` for Prometheus, and ``/started``, ``/live``, ``/ready`` for the orchestrator.

uvicorn serves them in one thread. A request has five seconds, and if there are too many sockets, the one that has
waited longest is closed (``connection_limits``). The three paths answer 200 or 503 with
``{"live": false, "reasons": [...]}``; ``health`` defines them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import h11
import uvicorn
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from typing_extensions import override
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from caesura.worker.errors import FatalError
from caesura.worker.telemetry.connection_limits import ConnectionLimits, LimitedSocket, most_sockets
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.read_turns import ReadTurn, next_piece


class HttpProtocol(H11Protocol):
    """Tells the doorway of its requests: uvicorn alone would wait for ever for one that does not come.

    What has come is read a piece a turn, and the next request of a connection waits for its turn: chunks of a byte, or
    many requests at once, do not hold others up.
    """

    def __init__(self, doorway: ConnectionLimits, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._doorway = doorway
        self._unread = bytearray()
        self._turn = ReadTurn(doorway.turns, self._read)
        self._reads = self._has_more = False

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = FlowControl(cast("asyncio.Transport", self))

    def pause_reading(self) -> None:
        """Read no more: the request is not answered yet, or much of its body waits to be used."""
        self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on, in turn."""
        if self._turn.is_asked or self._reads:
            return
        if self._has_more or self._unread:
            self.transport.pause_reading()
            self._turn.ask()
        else:
            self.transport.resume_reading()

    @override
    def data_received(self, data: bytes) -> None:
        self._unread += data
        self.resume_reading()

    @override
    def handle_events(self) -> None:
        if self._reads:
            super().handle_events()
        else:
            self._has_more = True
            self.resume_reading()

    def _read(self) -> None:
        if self.transport.is_closing():
            return
        self._reads = True
        try:
            if self._has_more:
                self._has_more = False
                self.handle_events()
            elif self._unread and not self.flow.read_paused:
                super().data_received(next_piece(self._unread))
        finally:
            self._reads = False
        if self.transport.get_protocol() is not self:
            self.transport.resume_reading()
        elif not self.flow.read_paused:
            self.resume_reading()

    @override
    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or a body that goes on without sense; where an answer has begun, end the socket.

        Whoever makes the answer is not waited for, and writes no more: uvicorn alone would raise, a line of log each.
        """
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    @override
    def on_response_complete(self) -> None:
        self._doorway.answered(self.client)
        super().on_response_complete()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._doorway.left(self.client)
        self._unread.clear()
        super().connection_lost(exc)


class HttpServer(uvicorn.Server):
    """Leaves the signals to us: they mean to drain first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


_REQUEST_TIMEOUT_S = 5.0
_MOST_SOCKETS = 64
_JSON = "application/json"
_Answer = tuple[HTTPStatus, str, bytes]


class TelemetryServer:
    """An HTTP server on ``host:port``; port 0 takes a free one, which ``port`` then names.

    host: a name, an IPv4 or an IPv6 address; ``::`` is every address, of IPv4 too where the system allows it.
    """

    def __init__(self, host: str, port: int, *, registry: CollectorRegistry, health: Health) -> None:
        host = host.strip("[]")
        self._registry = registry
        self._health = health
        try:
            self._socket = _bound(host, port)
        except OSError as error:
            shown = f"[{host}]" if ":" in host else host
            where = f"{shown}:{port} (worker.http_host, worker.http_port)"
            raise FatalError(f"metrics and health cannot be served on {where}: {error.strerror}") from error
        self.port: int = self._socket.getsockname()[1]
        doorway = self._socket.doorway = ConnectionLimits(most=most_sockets(_MOST_SOCKETS), within_s=_REQUEST_TIMEOUT_S)
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # an invalid request is not worth a log line
        config = uvicorn.Config(
            self._serve,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            proxy_headers=False,
            interface="asgi3",
            loop="asyncio",
            http=cast("type[asyncio.Protocol]", partial(HttpProtocol, doorway)),
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._server = HttpServer(config)
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    async def _serve(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        del receive  # nothing of a request's body is wanted
        assert scope["type"] == "http", "WebSockets and lifespans are turned off"
        accepts = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"accept"), "")
        status, content_type, body = self._answer(scope["method"], scope["path"], accepts)
        headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    def _answer(self, method: str, path: str, accepts: str) -> _Answer:
        if method not in ("GET", "HEAD"):
            return HTTPStatus.METHOD_NOT_ALLOWED, _JSON, b'{"methods": ["GET", "HEAD"]}'
        match path:
            case "/metrics":
                encode, content_type = choose_encoder(accepts)
                return HTTPStatus.OK, content_type, encode(self._registry)
            case "/started":
                return _health("started", self._health.why_not_started())
            case "/live":
                return _health("live", self._health.why_not_alive())
            case "/ready":
                return _health("ready", self._health.why_not_ready())
        return HTTPStatus.NOT_FOUND, _JSON, b'{"paths": ["/metrics", "/started", "/live", "/ready"]}'


def _health(name: str, reasons: tuple[str, ...]) -> _Answer:
    status = HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK
    return status, _JSON, json.dumps({name: not reasons, "reasons": reasons}).encode()


def _bound(host: str, port: int) -> LimitedSocket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = LimitedSocket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            with suppress(OSError):  # a system of IPv6 alone
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        bound.bind((host, port))
        bound.listen()
    except OSError:
        bound.close()
        raise
    return bound
