"""A recogniser's WebSocket: opening messages and audio out, its messages in, connected anew when it breaks off.

A closed connection is the end of speech where the server says that all is well (close code 1000), or once all of the
audio has arrived; anything else is a break, and the next connection is a new one to whoever reads the messages. What of
the audio is not known to have arrived then is sent again over it (``audio_sender``). What the recogniser had heard and
not yet told of is lost with the connection.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from caesura.worker.adapters.websocket.audio_sender import Audio, AudioSender
from caesura.worker.errors import FatalError, RetriableError

__all__ = ["Audio", "RecogniserClient", "Reconnected", "is_address", "shown_address"]


def shown_address(url: str) -> str:
    """Return an address without what may be a secret in it: its user and password, and its query."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def is_address(source: str) -> bool:
    """Tell whether messages come from an address. FatalError where it is one that nothing can be asked at."""
    scheme, there_is, _ = source.partition("://")
    if not there_is or os.path.exists(source):  # noqa: PTH110 - Path's raises for what is too long for a path
        return False
    if scheme not in ("ws", "wss"):
        raise FatalError(f"{shown_address(source)}: an address begins with ws:// or wss://")
    try:
        named = urlsplit(source)
        if named.hostname and named.port != 0:
            return True
    except ValueError:  # a port that is no number, or too large a one
        pass
    raise FatalError(f"{shown_address(source)}: an address is ws://host:port, and a port is 1 to 65535")


try:
    from websockets.exceptions import ConnectionClosed, InvalidStatus, InvalidURI, WebSocketException
    from websockets.sync.client import ClientConnection, connect
except ImportError as error:
    raise FatalError("a WebSocket needs the package websockets: install Caesura with its extra web") from error


_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 8.0
_MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_REFUSED = (400, 401, 403, 404)
_AWAY = "nothing listens there, or TLS is expected (wss://), or not spoken (ws://)"
_BREAKS_OFF = "it breaks each connection off before it has said anything"


@dataclass(frozen=True, slots=True)
class Reconnected:
    """A new connection begins; what comes is of a new stream."""


class _Search:
    """How long a connection has been sought, and how long the next try is waited for.

    A recogniser that accepts each connection and breaks it off at once is not found: it has to say something, or to
    stay for longer than the longest wait.
    """

    def __init__(self) -> None:
        self._since_s, self._wait_s = time.monotonic(), _FIRST_WAIT_S
        self._connected_s, self._found = math.inf, False

    def connected(self) -> None:
        """Take note of a connection."""
        self._connected_s = time.monotonic()

    def found(self) -> None:
        """Take note that it speaks: where it breaks off, a new search begins."""
        self._found = True

    def lost(self) -> None:
        """Take note that there is no connection, or none any more."""
        now_s = time.monotonic()
        if self._found or now_s - self._connected_s > _LONGEST_WAIT_S:
            self._since_s, self._wait_s = now_s, _FIRST_WAIT_S
        self._connected_s, self._found = math.inf, False

    def goes_on(self, for_s: float) -> bool:
        """Wait until the next try is due; False where it would be later than ``for_s`` after the first."""
        if time.monotonic() - self._since_s + self._wait_s > for_s:
            return False
        time.sleep(self._wait_s)
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)
        return True


@dataclass(slots=True, kw_only=True)
class RecogniserClient:
    """Speaks to one address. reconnect_for_s: how long a connection is sought before it is given up.

    audio: is read by this client alone, and by no thread of it once ``messages`` has ended, or was closed.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    opening: Sequence[str] = ()
    audio: Audio | None = None
    reconnect_for_s: float = 60.0
    _sender: AudioSender | None = field(init=False)

    def __post_init__(self) -> None:
        """Begin with all of the audio unsent."""
        self._sender = AudioSender(self.audio) if self.audio is not None else None

    def messages(self) -> Generator[str | Reconnected, None, None]:
        """Yield text messages as they come, and where a new connection begins; ends with the speech.

        Raises FatalError: refused, no address of a WebSocket, or audio that cannot be read. RetriableError: given up.
        """
        search, connected = _Search(), False
        while True:
            try:
                with connect(
                    self.url, additional_headers=dict(self.headers), max_size=_MAX_MESSAGE_BYTES
                ) as connection:
                    if connected:
                        yield Reconnected()
                    connected = True
                    search.connected()
                    yield from self._spoken(connection, search)
                    self._check_audio()
                    return
            except InvalidStatus as error:
                status = error.response.status_code
                if status in _REFUSED:
                    raise FatalError(f"{self.shown} refuses the connection: HTTP {status}") from None
                why = f"it answers HTTP {status}"
            except InvalidURI:
                raise FatalError(f"{self.shown} is no address of a WebSocket, such as wss://host/path") from None
            except (WebSocketException, OSError) as error:
                why = _told(error)
                self._check_audio()
                if self._sender is not None and self._sender.over:
                    return
                search.lost()
            if not search.goes_on(self.reconnect_for_s):
                raise RetriableError(f"{self.shown} could not be reached for {self.reconnect_for_s:g} s: {why}")

    @property
    def shown(self) -> str:
        """The address without what may be a secret in it."""
        return shown_address(self.url)

    def _spoken(self, connection: ClientConnection, search: _Search) -> Iterator[str]:
        """Yield what comes over a connection."""
        with self._sending(connection):
            for message in connection:
                search.found()
                if isinstance(message, str):
                    yield message

    @contextlib.contextmanager
    def _sending(self, connection: ClientConnection) -> Iterator[None]:
        """Send the opening messages, and audio beside what is read."""
        for text in self.opening:
            connection.send(text)
        with self._sender.sending(connection) if self._sender is not None else contextlib.nullcontext():
            yield

    def _check_audio(self) -> None:
        if self._sender is not None:
            self._sender.check()


def _told(error: Exception) -> str:
    """Return why there is no connection; of what the server says nothing but its code."""
    if not isinstance(error, ConnectionClosed):
        return _AWAY
    return _BREAKS_OFF + (f" (close code {error.rcvd.code})" if error.rcvd is not None else "")
