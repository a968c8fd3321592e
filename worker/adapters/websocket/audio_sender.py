"""Sends audio to a recogniser, and loses none if the connection breaks and is made again.

1. One thread reads the file descriptor directly. It polls with a short time-out, so that it can be stopped, and so that
   no buffer of the interpreter stays locked when the process ends.
2. A chunk is kept until the server answers the ping that follows it, because a sent chunk may be lost in a connection
   that is already broken. (websockets sends pings too, and closes a connection without an answer after 40 s.)
3. The next connection begins with the kept chunks. **So the recogniser may hear audio twice, but misses none**: a lost
   chunk and a lost answer look the same.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from caesura.worker.errors import FatalError

try:
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import ClientConnection
except ImportError as error:
    raise FatalError("a WebSocket needs the package websockets: install Caesura with its extra web") from error

_LOOK_AGAIN_MS = 50
_STOPS_WITHIN_S = 1.0
_PING_DELAY_S = 0.02
"""Between a chunk and its ping. The first write to a broken connection resets it, and the next one closes the socket
with the server's unread messages. The delay lets them be read first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """Raw audio to send, in chunks, at most as fast as it was spoken (``bytes_a_second``; 0: as fast as it comes).

    source: file descriptor to read; no other reader uses it. finish: text message that tells the recogniser that the
    audio is over; empty: none. answered_within_s: how long to wait, after the last chunk, for a server that answers no
    ping; afterwards the chunks count as received.
    """

    source: int
    chunk_bytes: int = 3200
    bytes_a_second: int = 0
    finish: str = ""
    answered_within_s: float = 5.0


class AudioSender:
    """Sends a client's audio by the rules above. Call ``over`` and ``check`` between two connections."""

    def __init__(self, audio: Audio) -> None:
        self._audio = audio
        self._gathered = bytearray()
        self._kept: deque[bytes] = deque()
        self._ended = False
        self._fault: OSError | None = None

    @property
    def over(self) -> bool:
        """Whether all of the audio has arrived."""
        return self._ended and not self._kept

    def check(self) -> None:
        """Raise FatalError if the audio could not be read."""
        if self._fault is not None:
            raise FatalError(f"the audio cannot be read: {self._fault.strerror}")

    @contextlib.contextmanager
    def sending(self, connection: ClientConnection) -> Iterator[None]:
        """Send over this connection until the end of the block. Errors of the connection are left to its reader."""
        stopping = threading.Event()
        thread = threading.Thread(target=self._run, args=(connection, stopping), name="audio", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join(_STOPS_WITHIN_S)
            if thread.is_alive():  # the server does not read, so send blocks
                with contextlib.suppress(OSError):
                    connection.socket.shutdown(socket.SHUT_RDWR)
                thread.join()

    def _run(self, connection: ClientConnection, stopping: threading.Event) -> None:
        answers: deque[threading.Event] = deque()  # of the kept chunks that this connection has sent
        try:
            with contextlib.suppress(WebSocketException, OSError):
                self._send(connection, stopping, answers)
                if self._fault is not None:
                    connection.close()
                elif not stopping.is_set():
                    self._end(connection, stopping, answers)
        finally:
            self._drop_received(answers)

    def _send(self, connection: ClientConnection, stopping: threading.Event, answers: deque[threading.Event]) -> None:
        began_s, sent, rate = time.monotonic(), 0, self._audio.bytes_a_second
        while len(answers) < len(self._kept) or self._read_chunk(stopping):
            if stopping.is_set():
                return
            chunk = self._kept[len(answers)]
            connection.send(chunk)
            stopping.wait(min(_PING_DELAY_S, len(chunk) / rate / 2) if rate else 0.0)
            answers.append(connection.ping())
            sent += len(chunk)
            stopping.wait(max(0.0, began_s + sent / rate - time.monotonic()) if rate else 0.0)
            self._drop_received(answers)

    def _end(self, connection: ClientConnection, stopping: threading.Event, answers: deque[threading.Event]) -> None:
        """Send the finish message, and wait until all chunks have arrived."""
        if self._audio.finish:
            connection.send(self._audio.finish)
        left, answered_at_s = len(answers), time.monotonic()
        while answers and not stopping.wait(_LOOK_AGAIN_MS / 1000):
            self._drop_received(answers)
            if len(answers) < left:
                left, answered_at_s = len(answers), time.monotonic()
            elif time.monotonic() - answered_at_s > self._audio.answered_within_s:
                answers.clear()
                self._kept.clear()

    def _drop_received(self, answers: deque[threading.Event]) -> None:
        """Drop the chunks that are known to have arrived."""
        while answers and answers[0].is_set():
            answers.popleft()
            self._kept.popleft()

    def _read_chunk(self, stopping: threading.Event) -> bool:
        """Read and keep one more chunk; the last may be shorter. False at the end, after a fault or a stop."""
        poll = select.poll()
        poll.register(self._audio.source, select.POLLIN)
        while (missing := self._audio.chunk_bytes - len(self._gathered)) > 0:
            if stopping.is_set():
                return False
            if not poll.poll(_LOOK_AGAIN_MS):
                continue
            try:
                read = os.read(self._audio.source, missing)
            except BlockingIOError:
                continue  # another process has made the descriptor non-blocking
            except OSError as error:
                self._fault = error
                return False
            if not read:
                self._ended = True
                break
            self._gathered += read
        if self._gathered:
            self._kept.append(bytes(self._gathered))
            self._gathered.clear()
            return True
        return False
