"""The last bytes of a connection: what fills the buffer with its goodbye takes nothing with it that was sent before."""

from __future__ import annotations

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from typing_extensions import override
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from worker.service.doorway import Doorway
from worker.service.server import _configured, _WebSocketProtocol
from worker.settings.serving import ServeSettings

_CLOSE_FRAME = b"\x88"


class Narrow(asyncio.Transport):
    """A transport whose buffer is over its limit from the close frame on, and no client reads."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: _WebSocketProtocol | None = None
        self.done: list[str] = []

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        if bytes(data).startswith(_CLOSE_FRAME):
            assert self.protocol is not None
            self.protocol.pause_writing()

    @override
    def abort(self) -> None:
        self.done.append("aborted")

    @override
    def close(self) -> None:
        self.done.append("closed")

    @override
    def is_closing(self) -> bool:
        return False


async def _say_goodbye(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("a segment")
    await socket.close(1012)


async def _ends(transport: Narrow, wait_s: float) -> list[str]:
    """Return what became of the transport after so long."""
    doorway = Doorway(most=16, within_s=10)
    config = _configured(Starlette(routes=[WebSocketRoute("/", _say_goodbye)]), ServeSettings(), doorway)
    protocol = transport.protocol = _WebSocketProtocol(doorway, config=config, server_state=ServerState(), app_state={})
    protocol.close_timeout = 0.2
    client = ClientProtocol(parse_uri("ws://localhost/"))
    client.send_request(client.connect())
    protocol.connection_made(transport)
    protocol.data_received(b"".join(client.data_to_send()))
    await asyncio.sleep(wait_s)
    return transport.done


@pytest.mark.parametrize(("wait_s", "left"), [(0.1, []), (1.0, ["closed", "aborted"])])
def test_a_goodbye_that_fills_the_buffer_is_given_its_time_and_no_more(wait_s: float, left: list[str]) -> None:
    assert sorted(asyncio.run(_ends(Narrow(), wait_s)), reverse=True) == left
