"""The last bytes of a connection: what fills the buffer with its goodbye takes nothing with it that was sent before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from typing_extensions import override
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from caesura.worker.service.server.server import _configured, _WebSocketProtocol
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.telemetry.connection_limits import ConnectionLimits

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
    def pause_reading(self) -> None:
        """No client sends anything."""

    @override
    def resume_reading(self) -> None:
        """No client sends anything."""

    @override
    def is_closing(self) -> bool:
        return False


async def _say_goodbye(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("a segment")
    await socket.close(1012)


async def _left(transport: Narrow, ended: Callable[[_WebSocketProtocol], bool]) -> list[str]:
    """Return what became of the transport by the time that it ended, or after a minute."""
    doorway = ConnectionLimits(most=16, within_s=10)
    config = _configured(Starlette(routes=[WebSocketRoute("/", _say_goodbye)]), ServeSettings(), doorway)
    protocol = transport.protocol = _WebSocketProtocol(doorway, config=config, server_state=ServerState(), app_state={})
    client = ClientProtocol(parse_uri("ws://localhost/"))
    client.send_request(client.connect())
    protocol.connection_made(transport)
    protocol.data_received(b"".join(client.data_to_send()))
    for _ in range(6000):
        if ended(protocol):
            break
        await asyncio.sleep(0.01)
    await asyncio.gather(*protocol.tasks)
    return transport.done


def test_a_goodbye_that_fills_the_buffer_breaks_nothing_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.server.server._GOODBYE_S", 60.0)
    assert asyncio.run(_left(Narrow(), lambda protocol: protocol.close_sent)) == []


def test_a_goodbye_that_is_never_read_has_its_time_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.server.server._GOODBYE_S", 0.05)
    transport = Narrow()
    done = asyncio.run(_left(transport, lambda _: "aborted" in transport.done))
    assert "aborted" in done
