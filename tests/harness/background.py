"""What runs in a thread beside a test: a server, or a loop of its own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
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


class BackgroundLoop(ABC):
    """A thread of a test's own, from ``start`` to ``close``."""

    def __init__(self, name: str) -> None:
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    @abstractmethod
    def _run(self) -> None:
        """Run until ``_closing`` is set."""
