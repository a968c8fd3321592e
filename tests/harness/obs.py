"""OBS Studio's WebSocket server as its protocol describes it, on a free port of this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from tests.harness.background import in_background

__all__ = ["PASSWORD", "Obs", "obs_streaming"]

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
