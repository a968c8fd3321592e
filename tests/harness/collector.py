"""A collector of spans: an HTTP server that keeps what is posted to it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.harness.background import in_background


class Collector(ThreadingHTTPServer):
    """Keeps what is posted to it, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posted: list[tuple[str, bytes]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        compressed = self.headers.get("Content-Encoding") == "gzip"
        assert isinstance(self.server, Collector)
        self.server.posted.append((self.path, gzip.decompress(body) if compressed else body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server has it
        pass


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as collector, in_background(collector):
        yield collector
