"""Limits the sockets of strangers: how many there are, and how long each may wait before it is admitted.

Rules:

1. A socket waits from its acceptance on, also through a TLS handshake; after an answer it waits for its next request.
2. A socket that waits too long is closed. This includes a WebSocket whose opening has not come: it has the rest of its
   request's time (``left_s``), and a moment to read why it is refused.
3. When there are as many sockets as allowed, a new one replaces the one that has waited longest. So a flood of silent
   sockets closes itself, and a client that asks at once is served. An admitted socket is never closed.
4. The next socket is accepted only after a round of the event loop, when replaced ones are closed. So there are never
   many more open files than allowed sockets.

An instance belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from typing_extensions import override

from caesura.worker.telemetry.read_turns import ReadTurns

_TURNED_AWAY_S = 0.5
_OTHER_FILES = 64
_FEWEST = 16

Peer = tuple[str, int]
"""Address and port of a client: no two open sockets of a listener have the same."""


def most_sockets(wanted: int) -> int:
    """Return how many sockets there may be: as many as are wanted, or as many as the process may open files."""
    may_open, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if may_open == resource.RLIM_INFINITY:
        return wanted
    return max(_FEWEST, min(wanted, may_open - _OTHER_FILES))


@dataclass(slots=True, kw_only=True)
class _Guest:
    socket: socket.socket
    due: asyncio.TimerHandle | None = None
    until_s: float | None = None
    let_in: Callable[[], None] | None = None

    def untimed(self) -> None:
        if self.due is not None:
            self.due.cancel()
            self.due = None


class ConnectionLimits:
    """most: sockets at once. within_s: what a TLS handshake, a request and its answer may take together."""

    def __init__(self, *, most: int, within_s: float) -> None:
        self.turns = ReadTurns()
        self._most = most
        self._within_s = within_s
        self._waiting: dict[Peer, _Guest] = {}
        self._inside: dict[Peer, _Guest] = {}
        self._making_room = False

    def __len__(self) -> int:
        return len(self._waiting) + len(self._inside)

    @property
    def is_making_room(self) -> bool:
        """Tell whether a socket was cut off and may not be closed yet."""
        return self._making_room

    def came(self, accepted: socket.socket, peer: Peer) -> bool:
        """Take a socket that was accepted; return False where there is no room for it, and it is to be closed."""
        self.left(peer)
        if len(self) >= self._most:
            if not self._waiting:
                return False
            self._cut_off(next(iter(self._waiting)))
            self._making_room = True
            asyncio.get_running_loop().call_soon(self._made_room)
        self._wait(peer, _Guest(socket=accepted), self._within_s)
        return True

    def answered(self, peer: Peer | None) -> None:
        """Take note that a request was answered: the time for the next one begins."""
        self._wait_again(peer, self._within_s)

    def upgraded(self, peer: Peer | None) -> None:
        """Take note that this is a WebSocket now: its time goes on, and newcomers take others' places first."""
        left_s = self.left_s(peer)
        self._wait_again(peer, left_s + _TURNED_AWAY_S)
        if peer is not None and peer in self._waiting:
            self._waiting[peer].until_s = asyncio.get_running_loop().time() + left_s

    def left_s(self, peer: Peer | None) -> float:
        """Return how long a socket that is not let in may still wait."""
        guest = None if peer is None else self._waiting.get(peer)
        if guest is None or guest.until_s is None:
            return self._within_s
        return max(0.0, guest.until_s - asyncio.get_running_loop().time())

    def when_let_in(self, peer: Peer | None, tell: Callable[[], None]) -> None:
        """Call this once a client was admitted."""
        if peer is not None and (guest := self._waiting.get(peer)) is not None:
            guest.let_in = tell

    def let_in(self, peer: Peer | None) -> None:
        """Take note that a client was admitted."""
        if peer is not None and (guest := self._waiting.pop(peer, None)) is not None:
            guest.untimed()
            self._inside[peer] = guest
            if guest.let_in is not None:
                guest.let_in()

    def let_out(self, peer: Peer | None) -> None:
        """Take note that a client that was admitted has only its goodbye to say, for which uvicorn sets a time."""
        self._wait_again(peer, None)

    def left(self, peer: Peer | None) -> None:
        """Take note that a socket is closed; harmless twice."""
        if peer is not None and (guest := self._waiting.pop(peer, None) or self._inside.pop(peer, None)) is not None:
            guest.untimed()

    def _made_room(self) -> None:
        self._making_room = False

    def _wait_again(self, peer: Peer | None, for_s: float | None) -> None:
        if peer is not None and (guest := self._waiting.pop(peer, None) or self._inside.pop(peer, None)) is not None:
            guest.untimed()
            self._wait(peer, guest, for_s)

    def _wait(self, peer: Peer, guest: _Guest, for_s: float | None) -> None:
        if for_s is not None:
            loop = asyncio.get_running_loop()
            guest.until_s = loop.time() + for_s
            guest.due = loop.call_later(for_s, self._cut_off, peer)
        self._waiting[peer] = guest

    def _cut_off(self, peer: Peer) -> None:
        """Shut a socket down; its transport, or its handshake, sees the end of it and closes."""
        guest = self._waiting.pop(peer)
        guest.untimed()
        with suppress(OSError):  # it is closed already
            guest.socket.shutdown(socket.SHUT_RDWR)


class LimitedSocket(socket.socket):
    """A listening socket that accepts only whom its doorway has room for."""

    doorway: ConnectionLimits

    @override
    def accept(self) -> tuple[socket.socket, tuple[object, ...]]:
        """Accept a connection.

        ConnectionAbortedError where it was closed at once, BlockingIOError where it has to wait: asyncio then asks
        again when it has gone round.
        """
        if self.doorway.is_making_room:
            raise BlockingIOError
        accepted, address = super().accept()
        if not self.doorway.came(accepted, (str(address[0]), int(address[1]))):
            accepted.close()
            raise ConnectionAbortedError
        return accepted, address
