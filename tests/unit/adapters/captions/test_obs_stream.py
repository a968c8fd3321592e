"""Captions into OBS, as its WebSocket server asks for them."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("websockets")
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from worker.adapters.captions.obs_stream import ObsStream
from worker.errors import FatalError, RetriableError

SALT, CHALLENGE, PASSWORD = "salt", "challenge", "open-sesame"


class Obs:
    """OBS as its protocol describes it. streaming: whether captions can be taken."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.connections = 0
        self.streaming = True
        self.hangs_up_after = 1000

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
            for taken, message in enumerate(connection, start=1):
                self._take(connection, json.loads(message)["d"])
                if taken == self.hangs_up_after:
                    return
        except ConnectionClosed:
            return

    def _take(self, connection: ServerConnection, request: dict[str, object]) -> None:
        assert request["requestType"] == "SendStreamCaption"
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


@pytest.fixture
def obs() -> Obs:
    return Obs()


@pytest.fixture
def address(obs: Obs) -> Iterator[str]:
    with serve(obs.speak, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
        thread.join()


def test_captions_are_sent_over_one_connection_with_the_proof_of_the_password(obs: Obs, address: str) -> None:
    stream = ObsStream(address, password=PASSWORD)
    stream.post("So we begin.")
    stream.post("Two\nlines.")
    stream.close()
    assert (obs.shown, obs.connections) == (["So we begin.", "Two\nlines."], 1)


def test_a_lost_connection_is_made_again_for_a_later_caption(obs: Obs, address: str) -> None:
    obs.hangs_up_after = 1
    stream = ObsStream(address, password=PASSWORD)
    stream.post("one")
    with pytest.raises(RetriableError, match="OBS closed the connection"):
        stream.post("two")
    stream.post("three")
    assert (obs.shown, obs.connections) == (["one", "three"], 2)
    stream.close()


def test_a_wrong_password_is_fatal_and_not_quoted(address: str) -> None:
    with pytest.raises(FatalError, match="OBS refuses the password") as refused:
        ObsStream(address, password="wrong").post("one")
    assert "wrong" not in str(refused.value)


def test_without_a_stream_it_is_said(obs: Obs, address: str) -> None:
    obs.streaming = False
    stream = ObsStream(address, password=PASSWORD)
    with pytest.raises(RetriableError, match="no stream is running"):
        stream.post("one")
    stream.close()


def test_where_no_obs_is_running_it_is_said() -> None:
    with pytest.raises(RetriableError, match="OBS does not answer"):
        ObsStream("ws://127.0.0.1:1").post("one")
