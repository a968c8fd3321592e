"""A round of the event loop reads so much and no more, whatever was sent and by however many."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from itertools import pairwise

import uvicorn
from typing_extensions import override
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.server import ServerState

from caesura.worker.telemetry.connection_limits import ConnectionLimits
from caesura.worker.telemetry.http_server import HttpProtocol
from caesura.worker.telemetry.read_turns import PIECE_BYTES, ReadTurn, ReadTurns

A_ROUND = 8
"""Turns that are no longer than they should be."""


def in_a_loop(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


@in_a_loop
async def test_a_round_gives_a_bounded_number_of_turns() -> None:
    turns, read = ReadTurns(), list[int]()
    for number in range(100):
        ReadTurn(turns, partial(read.append, number)).ask()
    await asyncio.sleep(0)
    assert read == list(range(A_ROUND))
    for _ in range(12):
        await asyncio.sleep(0)
    assert read == list(range(100))


@in_a_loop
async def test_the_client_with_least_use_reads_next() -> None:
    turns, read = ReadTurns(), list[str]()
    flood, newcomer = (ReadTurn(turns, partial(read.append, name)) for name in ("flood", "newcomer"))
    flood.used(time.monotonic(), 1.0)
    flood.ask()
    newcomer.ask()
    newcomer.ask()
    await asyncio.sleep(0)
    assert read == ["newcomer", "flood"]


@in_a_loop
async def test_a_failing_turn_does_not_stop_the_next_one() -> None:
    turns, read = ReadTurns(), list[str]()
    raised: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: raised.append(context["exception"]))
    ReadTurn(turns, list[None]().pop).ask()
    ReadTurn(turns, partial(read.append, "next")).ask()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert read == ["next"]
    assert [type(error) for error in raised] == [IndexError]


class Server:
    """A server without sockets. answering: requests that are being answered, without an end until ``answers``."""

    def __init__(self) -> None:
        self.doorway = ConnectionLimits(most=1000, within_s=60.0)
        self.config = uvicorn.Config(self._app, lifespan="off", log_config=None, interface="asgi3", ws="none")
        self.config.load()
        self.state = ServerState()
        self.begun = 0
        self.answers = asyncio.Event()

    async def _app(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        del scope, receive
        self.begun += 1
        await self.answers.wait()
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")], "trailers": False}
        )
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def finish(self) -> None:
        """Let every request be answered: what is cancelled instead is logged."""
        self.answers.set()
        await asyncio.gather(*self.state.tasks)

    def connection(self) -> tuple[HttpProtocol, Wire]:
        protocol = HttpProtocol(self.doorway, config=self.config, server_state=self.state, app_state={})
        wire = Wire(protocol)
        protocol.connection_made(wire)
        return protocol, wire


class Wire(asyncio.Transport):
    """A transport that goes nowhere. reads: whether more would be read now; None: it was not said."""

    def __init__(self, protocol: HttpProtocol) -> None:
        super().__init__()
        self._protocol = protocol
        self.reads: bool | None = None

    @override
    def get_protocol(self) -> HttpProtocol:
        return self._protocol

    @override
    def is_closing(self) -> bool:
        return False

    @override
    def pause_reading(self) -> None:
        self.reads = False

    @override
    def resume_reading(self) -> None:
        self.reads = True

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        del data

    @override
    def close(self) -> None:
        pass


CHUNKS = b"POST /v1/words HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 40_000
REQUEST = b"GET /live HTTP/1.1\r\nHost: a\r\n\r\n"


@in_a_loop
async def test_chunks_of_a_byte_do_not_hold_the_loop() -> None:
    server = Server()
    protocol, wire = server.connection()
    protocol.data_received(CHUNKS)
    for _ in range(3):
        await asyncio.sleep(0)
    assert 0 < len(protocol.cycle.body) < 3 * A_ROUND * PIECE_BYTES / 6
    assert wire.reads is False
    await server.finish()


@in_a_loop
async def test_many_requests_at_once_begin_a_few_a_round() -> None:
    server = Server()
    server.answers.set()
    connections = [server.connection() for _ in range(40)]
    for protocol, _ in connections:
        protocol.data_received(REQUEST * 5)
    begun = [0]
    for _ in range(100):
        await asyncio.sleep(0)
        begun.append(server.begun)
    assert server.begun == 40 * 5
    assert max(after - before for before, after in pairwise(begun)) <= A_ROUND
    assert all(wire.reads for _, wire in connections)


@in_a_loop
async def test_a_request_behind_one_that_is_not_answered_waits_unread() -> None:
    server = Server()
    protocol, wire = server.connection()
    protocol.data_received(REQUEST * 2 + REQUEST[:-2])
    for _ in range(5):
        await asyncio.sleep(0)
    assert server.begun == 1
    server.answers.set()
    for _ in range(20):
        await asyncio.sleep(0)
    assert server.begun == 2
    assert wire.reads
    protocol.data_received(REQUEST[-2:])
    for _ in range(20):
        await asyncio.sleep(0)
    assert server.begun == 3
