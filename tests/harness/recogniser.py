"""A recogniser's WebSocket server, on a free port of this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from typing_extensions import override
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import Event
from websockets.sync.server import ServerConnection, serve

from tests.harness.background import in_background


class PingCounting(ServerConnection):
    """Says of each ping that it was answered. What a client sent before it has arrived then, and the client is told."""

    def __init__(self, *args: Any, **named: Any) -> None:  # noqa: ANN401 - the library's own
        self.answered = threading.Semaphore(0)
        super().__init__(*args, **named)

    @override
    def process_event(self, event: Event) -> None:
        super().process_event(event)
        if isinstance(event, Frame) and event.opcode is Opcode.PING:
            self.answered.release()


@contextmanager
def serving(
    handler: Callable[[PingCounting], object],
    process_request: Callable[[ServerConnection, Request], Response | None] | None = None,
    *,
    listener: socket.socket | None = None,
) -> Iterator[str]:
    """Serve until the end of the block; the address, with a secret in it. listener: is closed with it."""

    def handle(connection: ServerConnection) -> None:
        assert isinstance(connection, PingCounting)
        handler(connection)

    listening = listener or socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = serve(handle, sock=listening, process_request=process_request, create_connection=PingCounting)
    with server, in_background(server):
        yield f"ws://127.0.0.1:{port}/?key=secret"
