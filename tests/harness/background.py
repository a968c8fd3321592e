"""A server of a test's own, run in a thread beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Server(Protocol):
    """What ``http.server`` and ``websockets.sync.server`` have in common."""

    def serve_forever(self) -> None: ...

    def shutdown(self) -> None: ...


@contextmanager
def in_background(server: Server) -> Iterator[None]:
    """Serve until the end of the block."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
