"""A WebSocket client whose frames may be anything, and that reads only when it is told to."""

from __future__ import annotations

import base64
import os
import select
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.harness.service import ANSWER_WITHIN_S, Served

TEXT, BINARY, PING, PONG, CONTINUED = 1, 2, 9, 10, 0
_SMALL_BUFFER = 65_536


def frame(opcode: int, data: bytes = b"", *, whole: bool = True) -> bytes:
    """Return a masked frame, by a mask of zeros. whole: no part follows it."""
    head = bytes([(0x80 if whole else 0) | opcode])
    size = len(data)
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65_536:
        head += b"\xfe" + struct.pack("!H", size)
    else:
        head += b"\xff" + struct.pack("!Q", size)
    return head + bytes(4) + data


def upgrade(path: str = "/v1/words", *, more: bytes = b"", method: bytes = b"GET") -> bytes:
    """Return a request for a WebSocket. more: headers beside those that it needs."""
    key = base64.b64encode(os.urandom(16))
    return (
        method
        + f" {path} HTTP/1.1\r\n".encode()
        + b"Host: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + b"Sec-WebSocket-Key: "
        + key
        + b"\r\n"
        + more
        + b"\r\n"
    )


class HostileClient:
    """A socket to a service. What it sends never blocks; ``taken`` says what the service has taken of it."""

    def __init__(self, served: Served) -> None:
        address = urlsplit(served.url)
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SMALL_BUFFER)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
        self.socket.settimeout(ANSWER_WITHIN_S)
        self.socket.connect((address.hostname, address.port))

    def shake_hands(self, opening: bytes | None = b"{}") -> None:
        """Become a WebSocket, and a session where an opening is given; what is answered is read."""
        self.socket.sendall(upgrade())
        self.read_until(b"\r\n\r\n")
        if opening is not None:
            self.socket.sendall(frame(TEXT, opening))
            self.read_until(b'"ready"')

    def read_until(self, mark: bytes) -> bytes:
        """Read up to a mark at least."""
        came = b""
        while mark not in came:
            data = self.socket.recv(4096)
            if not data:
                raise ConnectionError(came)
            came += data
        return came

    def flood(self, data: bytes, *, for_s: float) -> int:
        """Send this over and over without reading; return how many bytes were taken. Ends early where it is cut off."""
        taken, ends_at_s = 0, time.monotonic() + for_s
        self.socket.settimeout(0)
        try:
            rest = memoryview(data)
            while (left_s := ends_at_s - time.monotonic()) > 0:
                if select.select([], [self.socket], [], min(0.1, left_s))[1]:
                    sent = self.socket.send(rest)
                    taken += sent
                    rest = rest[sent:] or memoryview(data)
        except OSError:
            pass
        finally:
            self.socket.settimeout(ANSWER_WITHIN_S)
        return taken

    def ends_within(self, seconds: float) -> bool:
        """Read on; tell whether the service closes in time."""
        ends_at_s = time.monotonic() + seconds
        try:
            while (left_s := ends_at_s - time.monotonic()) > 0:
                self.socket.settimeout(left_s)
                if not self.socket.recv(65_536):
                    return True
        except TimeoutError:
            return False
        except OSError:
            return True
        return False


@contextmanager
def connected(served: Served, opening: bytes | None = b"{}") -> Iterator[HostileClient]:
    """Connect; with an opening the client is let in, without one it is a stranger's WebSocket."""
    client = HostileClient(served)
    with client.socket:
        client.shake_hands(opening)
        yield client
