"""A caption service as Zoom's documentation describes it, on a free port of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.harness.background import in_background

__all__ = ["Meeting", "meeting_held"]


class Meeting(ThreadingHTTPServer):
    """A caption service as its documentation describes it: a number that it has seen is shown once."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.shown: list[str] = []
        self.seqs: list[int] = []
        self.faults: list[str] = []
        self.last_seq = 0
        self.seq_status = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/closedcaption?id=7&signature=secret%3D"


class _Answers(BaseHTTPRequestHandler):
    server: Meeting

    def do_GET(self) -> None:
        assert urlsplit(self.path).path == "/closedcaption/seq"
        assert parse_qs(urlsplit(self.path).query)["signature"] == ["secret="]
        self._answer(self.server.seq_status, str(self.server.last_seq))

    def do_POST(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        assert self.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert (query["id"], query["lang"]) == (["7"], ["en-US"])
        seq = int(query["seq"][0])
        self.server.seqs.append(seq)
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault.isdigit():
            self._answer(int(fault), "no")
            return
        if seq > self.server.last_seq:
            self.server.shown.append(text)
            self.server.last_seq = seq
        if fault == "answer lost":
            self.connection.close()
            return
        self._answer(200, str(seq))

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Stay silent."""


@contextmanager
def meeting_held() -> Iterator[Meeting]:
    """Run a meeting until the end of the block."""
    with Meeting() as server, in_background(server):
        yield server
