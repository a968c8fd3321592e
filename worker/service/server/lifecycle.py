"""What every service here does: start what it serves from, let clients in, stop when told, and say what ended it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.routing import Route

from caesura.worker.app import ExitStatus
from caesura.worker.service.server.client_socket import ClientSocket
from caesura.worker.service.server.connections import Connection, Connections
from caesura.worker.service.server.messages import About, Opening
from caesura.worker.service.server.server import Listener, serve_until_stopped
from caesura.worker.service.server.telemetry import ServiceTelemetry
from caesura.worker.service.server.web_app import web_app
from caesura.worker.settings.serving import ServeSettings

StopTaker = Callable[[Callable[[], None]], None]
"""Is given a function that stops the service, from any thread, and does nothing once it has ended."""


class ServiceThread(Protocol):
    """A thread that the service lives from."""

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self) -> None:
        """End. May block."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """A service. path: of its WebSocket. source: made in the event loop, of what to tell of a fault.

    connect: makes a connection of its number, its socket and its opening. routes: what is served beside the WebSocket.
    telemetry: what is served on ``/metrics``.
    """

    settings: ServeSettings
    about: About
    path: str
    source: Callable[[Callable[[Exception], None]], ServiceThread]
    connect: Callable[[int, ClientSocket, Opening], Awaitable[Connection]]
    routes: Callable[[Connections], Sequence[Route]] = lambda _: ()
    telemetry: ServiceTelemetry = field(default_factory=ServiceTelemetry)


async def host(hosted: Hosted, listener: Listener, stop: StopTaker | None) -> int:
    """Serve until stopped; return the exit status, or raise what ended the source."""
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    faults: list[Exception] = []

    def stop_from_anywhere() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the service has ended before
            loop.call_soon_threadsafe(stopping.set)

    def fault(error: Exception) -> None:
        faults.append(error)
        stop_from_anywhere()

    if stop is not None:
        stop(stop_from_anywhere)
    source = hosted.source(fault)
    connections = Connections(hosted.settings, hosted.connect, hosted.telemetry.observer, listener.doorway)
    app = web_app(
        hosted.settings,
        about=hosted.about,
        path=hosted.path,
        serve=connections.serve,
        ready=lambda: not stopping.is_set(),
        metrics=hosted.telemetry.metrics.registry,
        routes=hosted.routes(connections),
    )
    source.start()
    try:
        await serve_until_stopped(app, listener, hosted.settings, drain=connections.drain, stop=stopping)
    finally:
        source.stop()
    if faults:
        raise faults[0]
    return ExitStatus.STOPPED
