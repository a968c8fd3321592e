"""A caption service as Zoom's documentation describes it, on a free port of this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from tests.harness.background import in_background


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


SALT, CHALLENGE, PASSWORD = "salt", "challenge", "open-sesame"


class Obs:
    """OBS as its protocol describes it. streaming: whether captions can be taken.

    hangs_up_after: so many captions on a connection. hangs_up_at_once: on a new connection, as soon as it is made.
    says: messages sent in place of an answer to a caption, one every ``every_s`` seconds.
    """

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.connections = 0
        self.streaming = True
        self.hangs_up_after = 1000
        self.hangs_up_at_once = False
        self.says: Iterable[str | bytes] = ()
        self.every_s = 0.0

    def speak(self, connection: ServerConnection) -> None:
        self.connections += 1
        hello = {"rpcVersion": 1, "authentication": {"challenge": CHALLENGE, "salt": SALT}}
        connection.send(json.dumps({"op": 0, "d": hello}))
        try:
            identify = json.loads(connection.recv())
            assert identify["op"] == 1
            if identify["d"]["authentication"] != digest(digest(PASSWORD + SALT) + CHALLENGE):
                connection.close(4009, "Authentication failed.")
                return
            connection.send(json.dumps({"op": 2, "d": {"negotiatedRpcVersion": 1}}))
            if self.hangs_up_at_once:
                return
            for taken, message in enumerate(connection, start=1):
                self._take(connection, json.loads(message)["d"])
                if taken == self.hangs_up_after:
                    return
        except ConnectionClosed:
            return

    def _take(self, connection: ServerConnection, request: dict[str, object]) -> None:
        assert request["requestType"] == "SendStreamCaption"
        says = list(self.says)  # of the moment: a test may change them while the last one is still being dealt with
        for said in says:
            connection.send(said)
            time.sleep(self.every_s)
        if says:
            return
        data = request["requestData"]
        assert isinstance(data, dict)
        status = {"result": True, "code": 100} if self.streaming else {"result": False, "code": 501}
        if self.streaming:
            self.shown.append(data["captionText"])
        connection.send(json.dumps({"op": 5, "d": {"eventType": "SomethingElse"}}))
        answer = {"requestId": request["requestId"], "requestStatus": status}
        connection.send(json.dumps({"op": 7, "d": answer}))


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@contextmanager
def obs_streaming(obs: Obs, port: int = 0) -> Iterator[str]:
    """Run it until the end of the block; its address. port: 0 takes a free one."""
    with serve(obs.speak, "127.0.0.1", port) as server, in_background(server):
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
