"""A recogniser's WebSocket: opening messages and audio out, its messages in, connected anew when it breaks off.

A closed connection is the end of speech where the server says that all is well (close code 1000), or once the audio has
ended; anything else is a break, and the next connection is a new one to whoever reads the messages.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from worker.errors import FatalError, RetriableError

try:
    from websockets.exceptions import InvalidStatus, InvalidURI, WebSocketException
    from websockets.sync.client import ClientConnection, connect
except ImportError as error:
    raise FatalError("a WebSocket needs the package websockets: install Caesura with its extra web") from error

__all__ = ["Audio", "RecogniserClient", "Reconnected"]

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 8.0
_MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_REFUSED = (400, 401, 403, 404)


@dataclass(frozen=True, slots=True)
class Reconnected:
    """A new connection begins; what comes is of a new stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """Raw audio to send, in chunks, at most as fast as it was spoken (``bytes_a_second``; 0: as fast as it comes).

    finish: the text message that tells the recogniser that the audio is over; none where it is empty.
    """

    source: BinaryIO
    chunk_bytes: int = 3200
    bytes_a_second: int = 0
    finish: str = ""


@dataclass(slots=True, kw_only=True)
class RecogniserClient:
    """Speaks to one address. reconnect_for_s: how long a connection is sought before it is given up."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    opening: Sequence[str] = ()
    audio: Audio | None = None
    reconnect_for_s: float = 60.0
    _audio_over: threading.Event = field(default_factory=threading.Event)

    def messages(self) -> Iterator[str | Reconnected]:
        """Yield text messages as they come, and where a new connection begins; ends with the speech.

        Raises FatalError: refused, or no address of a WebSocket. RetriableError: given up.
        """
        wait_s, lost_s, connected = _FIRST_WAIT_S, time.monotonic(), False
        while True:
            try:
                with connect(
                    self.url, additional_headers=dict(self.headers), max_size=_MAX_MESSAGE_BYTES
                ) as connection:
                    if connected:
                        yield Reconnected()
                    wait_s, connected = _FIRST_WAIT_S, True
                    with self._sending(connection):
                        yield from (message for message in connection if isinstance(message, str))
                    return
            except InvalidStatus as error:
                status = error.response.status_code
                if status in _REFUSED:
                    raise FatalError(f"{self.shown} refuses the connection: HTTP {status}") from None
            except InvalidURI:
                raise FatalError(f"{self.shown} is no address of a WebSocket, such as wss://host/path") from None
            except (WebSocketException, OSError):
                if self._audio_over.is_set():
                    return
                lost_s = lost_s if wait_s > _FIRST_WAIT_S else time.monotonic()
            if time.monotonic() - lost_s + wait_s > self.reconnect_for_s:
                raise RetriableError(
                    f"{self.shown} could not be reached for {self.reconnect_for_s:g} s: nothing listens there, or TLS "
                    "is expected (wss://), or not spoken (ws://)"
                )
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    @property
    def shown(self) -> str:
        """The address without what may be a secret in it."""
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"

    @contextlib.contextmanager
    def _sending(self, connection: ClientConnection) -> Iterator[None]:
        """Send the opening messages, and audio beside what is read."""
        for text in self.opening:
            connection.send(text)
        if self.audio is None:
            yield
            return
        stopping = threading.Event()
        thread = threading.Thread(target=self._send, args=(connection, self.audio, stopping), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopping.set()

    def _send(self, connection: ClientConnection, audio: Audio, stopping: threading.Event) -> None:
        began_s, sent = time.monotonic(), 0
        with contextlib.suppress(WebSocketException, OSError):  # whoever reads the messages sees the same and says it
            while not stopping.is_set() and (chunk := audio.source.read(audio.chunk_bytes)):
                connection.send(chunk)
                sent += len(chunk)
                if audio.bytes_a_second:
                    stopping.wait(max(0.0, began_s + sent / audio.bytes_a_second - time.monotonic()))
            if not stopping.is_set():
                self._audio_over.set()
                if audio.finish:
                    connection.send(audio.finish)
