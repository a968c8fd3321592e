"""What floods of a client do to ``caesura serve``: how long one turn of its event loop lasts, and how long it drains.

    python -m bench.hostile_clients

The floods are those of ``tests/harness/floods.py``, each for two seconds on loopback, on a scripted engine; two of them
from 48 clients at once.
loop_ms: the most processor time that the event loop's thread used between two turns. all_ms: the same of the whole
process, its clients and its reading thread too, which hands over each millisecond. drain_s: from the stop to the end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

from starlette.applications import Starlette

from bench.machine import write_result
from caesura.worker.service.server import lifecycle
from caesura.worker.service.server.server import Listener, serve_until_stopped
from caesura.worker.settings.serving import ServeSettings
from tests.harness.floods import CONTROL_FLOODS, MESSAGE_FLOODS, RECOGNISERS, REQUEST_FLOODS, named
from tests.harness.hostile_client import HostileClient
from tests.harness.service import serving

_FLOOD_S = 2.0
_MANY = 48
_DRAIN_TIMEOUT_S = 10.0
_BEAT_S = 0.002


class _Beats:
    """Notes how much processor time passes between two turns of an event loop."""

    def __init__(self) -> None:
        self.loop_s = self.all_s = 0.0
        self.counts = False

    async def beat(self) -> None:
        """Beat until cancelled."""
        loop_s, all_s = time.thread_time(), time.process_time()
        while True:
            await asyncio.sleep(_BEAT_S)
            last_loop_s, last_all_s = loop_s, all_s
            loop_s, all_s = time.thread_time(), time.process_time()
            if self.counts:
                self.loop_s = max(self.loop_s, loop_s - last_loop_s)
                self.all_s = max(self.all_s, all_s - last_all_s)


@contextmanager
def _beating(beats: _Beats) -> Iterator[None]:
    """Have each service that starts meanwhile beat."""

    async def serve_beating(
        app: Starlette,
        listener: Listener,
        settings: ServeSettings,
        *,
        drain: Callable[[], Awaitable[bool]],
        stop: asyncio.Event,
    ) -> None:
        task = asyncio.create_task(beats.beat())
        try:
            await serve_until_stopped(app, listener, settings, drain=drain, stop=stop)
        finally:
            task.cancel()

    vars(lifecycle)["serve_until_stopped"] = serve_beating
    try:
        yield
    finally:
        vars(lifecycle)["serve_until_stopped"] = serve_until_stopped


def _measured(opening: bytes | None, flood: bytes, clients: int = 1) -> dict[str, object]:
    """Flood a service. opening: of WebSockets; None: what is sent are requests."""
    beats = _Beats()
    settings = ServeSettings(port=0, drain_timeout_s=_DRAIN_TIMEOUT_S)
    with _beating(beats), serving(settings) as served, ExitStack() as stack:
        floods = ThreadPoolExecutor(clients)
        connections = [HostileClient(served) for _ in range(clients)]
        for client in connections:
            stack.enter_context(client.socket)
            if opening is not None:
                client.shake_hands(opening)
        beats.counts = True
        taken = sum(floods.map(partial(HostileClient.flood, data=flood, for_s=_FLOOD_S), connections))
        beats.counts = False
        began_s = time.monotonic()
        served.stop()
        served.done.wait(60)
        drained_s = time.monotonic() - began_s
    return {
        "loop_ms": round(beats.loop_s * 1000, 1),
        "all_ms": round(beats.all_s * 1000, 1),
        "drain_s": round(drained_s, 2),
        "taken_kb": taken // 1000,
        "status": served.status,
    }


def main() -> None:
    """Measure all floods and write the result."""
    floods: dict[str, tuple[bytes | None, bytes, int]] = {
        **{name: (b"{}", flood, 1) for name, flood in {**CONTROL_FLOODS, **MESSAGE_FLOODS}.items()},
        **{name: (named(name), flood, 1) for name, flood in RECOGNISERS.items()},
        **{name: (None, flood, 1) for name, flood in REQUEST_FLOODS.items()},
        "empty texts, 48 clients": (b"{}", MESSAGE_FLOODS["empty texts"], _MANY),
        "chunks of a byte, 48 clients": (None, REQUEST_FLOODS["chunks of a byte"], _MANY),
    }
    measured = {name: _measured(*flood) for name, flood in floods.items()}
    write_result("hostile_clients", "python -m bench.hostile_clients", measured)


if __name__ == "__main__":
    main()
