"""Captions into a stream of OBS Studio, by the WebSocket server that it has built in (version 28 and later).

Source: https://github.com/obsproject/obs-websocket/blob/master/docs/generated/protocol.md

``Hello`` (op 0), ``Identify`` (1) with the answer to its challenge, ``Identified`` (2); then a request
``SendStreamCaption`` (6) each, answered with a status (7). OBS takes captions while a stream is running.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from typing_extensions import override

from caesura.schemas.errors import InvalidEventError
from caesura.schemas.json_structure import decode_json
from caesura.worker.errors import FatalError, RetriableError
from caesura.worker.ports.caption_sink import CaptionSink

try:
    from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
    from websockets.sync.client import ClientConnection, connect
except ImportError as error:
    raise FatalError("OBS needs the package websockets: install Caesura with its extra web") from error

_HELLO, _IDENTIFY, _IDENTIFIED, _REQUEST, _RESPONSE = 0, 1, 2, 6, 7
_WRONG_PASSWORD = 4009
_NO_STREAM = 501


class ObsStream(CaptionSink):
    """One OBS. A connection that was lost meanwhile is made again for the caption that finds it so, once.

    timeout_s: for the opening, and for each answer, whatever other messages come before it.
    """

    def __init__(self, address: str, *, password: str = "", timeout_s: float = 3.0) -> None:
        self._address = address
        self._password = password
        self._timeout_s = timeout_s
        self._connection: ClientConnection | None = None
        self._open = ExitStack()
        self._count = 0

    def open(self) -> None:
        """Connect now, so that a wrong address or password is told before the first caption; raises as ``post``."""
        with self._asking():
            self._connected()

    @override
    def post(self, text: str) -> None:
        r"""Show a caption, its lines separated by ``\n``. RetriableError: not taken.

        FatalError: a wrong password, or none where OBS wants one; an address that is none of a WebSocket.
        """
        with self._asking():
            kept = self._connection is not None
            try:
                status = self._sent(text)
            except ConnectionClosed:
                if not kept:
                    raise
                self.close()
                status = self._sent(text)
        if status.get("result") is not True:
            why = "no stream is running" if status.get("code") == _NO_STREAM else f"status {status.get('code')}"
            raise RetriableError(f"OBS took no caption: {why}")

    def _sent(self, text: str) -> Mapping[str, object]:
        connection = self._connected()
        self._count += 1
        name = str(self._count)
        data = {"requestType": "SendStreamCaption", "requestId": name, "requestData": {"captionText": text}}
        connection.send(json.dumps({"op": _REQUEST, "d": data}))
        answer = _answer(connection, _RESPONSE, self._timeout_s, requestId=name)
        return _mapping(answer.get("requestStatus", {}))

    def close(self) -> None:
        """Let go of the connection."""
        with contextlib.suppress(WebSocketException, OSError):
            self._open.close()
        self._connection = None

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Let go of a connection that fails inside, and say what that means."""
        try:
            yield
        except _UnreadableAnswerError:
            self.close()
            raise RetriableError(
                "OBS answers with what is none of its protocol: is it OBS that listens there?"
            ) from None
        except ConnectionClosed as closed:
            self.close()
            if closed.rcvd is not None and closed.rcvd.code == _WRONG_PASSWORD:
                raise FatalError("OBS refuses the password") from None
            raise RetriableError("OBS closed the connection") from None
        except (WebSocketException, OSError):
            self.close()
            raise RetriableError("OBS does not answer: is it running, and its WebSocket server on?") from None

    def _connected(self) -> ClientConnection:
        if self._connection is None:
            connection = self._opened()
            hello = _answer(connection, _HELLO, self._timeout_s)
            identify: dict[str, object] = {"rpcVersion": 1, "eventSubscriptions": 0}
            challenge = hello.get("authentication")
            if isinstance(challenge, Mapping):
                identify["authentication"] = _proof(self._password, challenge)
            connection.send(json.dumps({"op": _IDENTIFY, "d": identify}))
            _answer(connection, _IDENTIFIED, self._timeout_s)
            self._connection = connection
        return self._connection

    def _opened(self) -> ClientConnection:
        try:
            return self._open.enter_context(
                connect(self._address, open_timeout=self._timeout_s, close_timeout=self._timeout_s)
            )
        except (InvalidURI, ValueError):  # a ValueError: of a port that is no number
            raise FatalError("OBS is reached at an address such as ws://localhost:4455") from None


class _UnreadableAnswerError(Exception):
    """What came is none of the protocol."""


def _answer(connection: ClientConnection, op: int, timeout_s: float, **fields: object) -> Mapping[str, object]:
    """Return the data of the next message of that kind, within the time-out; others are passed over.

    TimeoutError is an OSError.
    """
    ends_at_s = time.monotonic() + timeout_s
    while True:
        received = connection.recv(timeout=max(0.0, ends_at_s - time.monotonic()))
        try:
            message = _mapping(decode_json(received))
        except InvalidEventError:
            raise _UnreadableAnswerError from None
        data = _mapping(message.get("d", {}))
        if message.get("op") == op and all(data.get(name) == value for name, value in fields.items()):
            return data


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _UnreadableAnswerError
    return value


def _proof(password: str, challenge: Mapping[str, object]) -> str:
    secret = _digest(password + str(challenge.get("salt", "")))
    return _digest(secret + str(challenge.get("challenge", "")))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
