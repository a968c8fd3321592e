"""Audio to a recogniser, over one connection after another: nothing that was read is lost between two of them.

1. One thread at a time reads, straight from the file descriptor: it waits until there is something, a little at a time,
   so that it can be told to stop, and so that no buffer of the interpreter's is left locked when the process ends.
2. A chunk is kept until the server has answered the ping sent behind it: only then is it known to have arrived, for
   what was merely sent may lie in a connection that is broken already. (A server that answers none is cut off after
   40 s by the library, which sends pings of its own.)
3. The next connection begins with the chunks that were kept. **So what was on its way when a connection broke may be
   heard twice, and is never lost**: whether it arrived, or only its answer was lost, nobody can tell.
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

__all__ = ["Audio", "AudioSender"]

_LOOK_AGAIN_MS = 50
_STOPS_WITHIN_S = 1.0
_BREATH_S = 0.02
"""Between a chunk and its ping. The first that is sent into a broken connection has it reset, and the next one closes
the socket, with what the server had said before and nobody has read yet: so that is read first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """Raw audio to send, in chunks, at most as fast as it was spoken (``bytes_a_second``; 0: as fast as it comes).

    source: the file descriptor that it is read from, and nobody else reads. finish: the text message that tells the
    recogniser that the audio is over; none where it is empty. answered_within_s: how long a server is waited for that
    answers no ping once all was sent; then what was sent has arrived.
    """

    source: int
    chunk_bytes: int = 3200
    bytes_a_second: int = 0
    finish: str = ""
    answered_within_s: float = 5.0


class AudioSender:
    """Sends a client's audio, as the head of this file says. ``over`` and ``check`` are for between two connections."""

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
        """Raise FatalError where the audio could not be read."""
        if self._fault is not None:
            raise FatalError(f"the audio cannot be read: {self._fault.strerror}")

    @contextlib.contextmanager
    def sending(self, connection: ClientConnection) -> Iterator[None]:
        """Send over this connection until the end of the block; whatever breaks it is left to who reads from it."""
        stopping = threading.Event()
        thread = threading.Thread(target=self._run, args=(connection, stopping), name="audio", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join(_STOPS_WITHIN_S)
            if thread.is_alive():  # it waits for a server that takes no more
                with contextlib.suppress(OSError):
                    connection.socket.shutdown(socket.SHUT_RDWR)
                thread.join()

    def _run(self, connection: ClientConnection, stopping: threading.Event) -> None:
        answers: deque[threading.Event] = deque()  # of the chunks kept, from the first on: as many as were sent here
        try:
            with contextlib.suppress(WebSocketException, OSError):
                self._send(connection, stopping, answers)
                if self._fault is not None:
                    connection.close()
                elif not stopping.is_set():
                    self._end(connection, stopping, answers)
        finally:
            self._let_go(answers)

    def _send(self, connection: ClientConnection, stopping: threading.Event, answers: deque[threading.Event]) -> None:
        began_s, sent, rate = time.monotonic(), 0, self._audio.bytes_a_second
        while len(answers) < len(self._kept) or self._keep_next(stopping):
            if stopping.is_set():
                return
            chunk = self._kept[len(answers)]
            connection.send(chunk)
            stopping.wait(min(_BREATH_S, len(chunk) / rate / 2) if rate else 0.0)
            answers.append(connection.ping())
            sent += len(chunk)
            stopping.wait(max(0.0, began_s + sent / rate - time.monotonic()) if rate else 0.0)
            self._let_go(answers)

    def _end(self, connection: ClientConnection, stopping: threading.Event, answers: deque[threading.Event]) -> None:
        """Say that it was all, and wait until it has arrived."""
        if self._audio.finish:
            connection.send(self._audio.finish)
        left, answered_at_s = len(answers), time.monotonic()
        while answers and not stopping.wait(_LOOK_AGAIN_MS / 1000):
            self._let_go(answers)
            if len(answers) < left:
                left, answered_at_s = len(answers), time.monotonic()
            elif time.monotonic() - answered_at_s > self._audio.answered_within_s:
                answers.clear()
                self._kept.clear()

    def _let_go(self, answers: deque[threading.Event]) -> None:
        """Forget the chunks that are known to have arrived."""
        while answers and answers[0].is_set():
            answers.popleft()
            self._kept.popleft()

    def _keep_next(self, stopping: threading.Event) -> bool:
        """Read one more chunk, the last one perhaps a shorter one. False at the end, a fault, or told to stop."""
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
                continue  # somebody has made it one that does not block
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
