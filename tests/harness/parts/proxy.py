"""A small TCP proxy whose connections can be cut, stalled and slowed; all links share one thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

_CHUNK_BYTES = 65_536
_CALL_S = 10.0

T = TypeVar("T")


class Proxy:
    """A context manager; ``link`` opens a port that leads to another."""

    def __init__(self) -> None:
        self._links: list[Link] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def link(self, target: int) -> Link:
        """Return a link to a port of the loopback interface; the port need not be served yet."""
        link = Link(self, target)
        self.call(link.open())
        self._links.append(link)
        return link

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the proxy's thread and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CALL_S)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(TimeoutError):
            self.call(_end(self._links))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CALL_S)
        self._loop.close()


async def _end(links: Sequence[Link]) -> None:
    for link in links:
        link.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0.05)  # a transport that was aborted closes its socket in a later round of the loop


class Link:
    """One port that leads to ``target``, which may be changed: connections made from then on go there."""

    def __init__(self, proxy: Proxy, target: int) -> None:
        self._proxy = proxy
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._delay_s = 0.0
        self._server: asyncio.Server | None = None
        self.target = target
        self.port = 0

    async def open(self) -> None:
        """Begin to listen."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._server = server

    def close(self) -> None:
        """Listen no more and reset every connection; in the proxy's own thread."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    def cut(self) -> None:
        """Reset every connection; new ones are taken."""
        self._proxy.call(self._cut())

    def stall(self, *, on: bool) -> None:
        """Hold back every byte, both ways, until told otherwise; connections stay open."""
        self._proxy.call(self._stall(on=on))

    def slow(self, delay_s: float) -> None:
        """Hold back every piece of data for so long; 0: do not."""
        self._delay_s = delay_s

    async def _cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _stall(self, *, on: bool) -> None:
        if on:
            self._flowing.clear()
        else:
            self._flowing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there_writer}
        try:
            await asyncio.gather(self._pump(reader, there_writer), self._pump(there_reader, writer))
        except asyncio.CancelledError:
            pass  # the proxy ends
        finally:
            self._writers -= {writer, there_writer}
            writer.transport.abort()
            there_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                if self._delay_s:
                    await asyncio.sleep(self._delay_s)
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()
