"""The sockets that strangers hold open: how many, and for how long each may do nothing that lets it in.

Rules:

1. A socket waits from its acceptance on, also through a TLS handshake; after an answer it waits for its next request.
2. Who waits longer than may be is cut off. A WebSocket is not timed here from its upgrade on: its opening is, by
   whoever reads it. It waits until it is let in all the same.
3. Where there are as many sockets as may be, a new one takes the place of the one that has waited longest: a flood of
   silent ones closes itself, and who asks at once is answered. Who was let in is never cut off.
4. The next one is accepted only when the event loop has gone round: what was cut off is closed by then, so there are
   never many files more than sockets that may be.

One event loop owns a doorway.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import suppress
from dataclasses import dataclass

from typing_extensions import override

__all__ = ["Doorway", "DoorwaySocket", "Peer", "most_sockets"]

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

    def untimed(self) -> None:
        if self.due is not None:
            self.due.cancel()
            self.due = None


class Doorway:
    """most: sockets at once. within_s: what a TLS handshake, a request and its answer may take together."""

    def __init__(self, *, most: int, within_s: float) -> None:
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
        self._wait(peer, _Guest(socket=accepted), timed=True)
        return True

    def answered(self, peer: Peer | None) -> None:
        """Take note that a request was answered: the time for the next one begins."""
        self._wait_again(peer, timed=True)

    def upgraded(self, peer: Peer | None) -> None:
        """Take note that this is a WebSocket now."""
        self._wait_again(peer, timed=False)

    def let_in(self, peer: Peer | None) -> None:
        """Take note that a client was admitted."""
        if peer is not None and (guest := self._waiting.pop(peer, None)) is not None:
            guest.untimed()
            self._inside[peer] = guest

    def let_out(self, peer: Peer | None) -> None:
        """Take note that a client that was admitted has only its goodbye to say, for which uvicorn sets a time."""
        self._wait_again(peer, timed=False)

    def left(self, peer: Peer | None) -> None:
        """Take note that a socket is closed; harmless twice."""
        if peer is not None and (guest := self._waiting.pop(peer, None) or self._inside.pop(peer, None)) is not None:
            guest.untimed()

    def _made_room(self) -> None:
        self._making_room = False

    def _wait_again(self, peer: Peer | None, *, timed: bool) -> None:
        if peer is not None and (guest := self._waiting.pop(peer, None) or self._inside.pop(peer, None)) is not None:
            guest.untimed()
            self._wait(peer, guest, timed=timed)

    def _wait(self, peer: Peer, guest: _Guest, *, timed: bool) -> None:
        if timed:
            guest.due = asyncio.get_running_loop().call_later(self._within_s, self._cut_off, peer)
        self._waiting[peer] = guest

    def _cut_off(self, peer: Peer) -> None:
        """Shut a socket down; its transport, or its handshake, sees the end of it and closes."""
        guest = self._waiting.pop(peer)
        guest.untimed()
        with suppress(OSError):  # it is closed already
            guest.socket.shutdown(socket.SHUT_RDWR)


class DoorwaySocket(socket.socket):
    """A listening socket that accepts only whom its doorway has room for."""

    doorway: Doorway

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
