"""uvicorn's HTTP with limits on its sockets: what the worker's metrics and the services share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import uvicorn
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from caesura.worker.telemetry.connection_limits import ConnectionLimits

__all__ = ["HttpProtocol", "HttpServer"]


class HttpProtocol(H11Protocol):
    """Tells the doorway of its requests: uvicorn alone would wait for ever for one that does not come."""

    def __init__(self, doorway: ConnectionLimits, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._doorway = doorway

    @override
    def on_response_complete(self) -> None:
        self._doorway.answered(self.client)
        super().on_response_complete()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._doorway.left(self.client)
        super().connection_lost(exc)


class HttpServer(uvicorn.Server):
    """Leaves the signals to us: they mean to drain first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield
