"""What a worker and its engine's process say to each other: MessagePack, a length before each message.

The worker sends ``EngineStart`` once and then a ``BatchAsk`` a batch. The process answers ``EngineReady`` and then a
``BatchAnswer`` an ask, and sends ``EngineBeat`` once a second while it computes a batch.
"""

from __future__ import annotations

import socket
import struct
from typing import TypeVar

import msgspec

from caesura.schemas.labels import Labels
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.ports.engine import EngineModel, EngineWork

__all__ = ["BatchAnswer", "BatchAsk", "Channel", "EngineBeat", "EngineReady", "EngineStart"]

_LENGTH = struct.Struct("<I")
_BUFFER_BYTES = 1 << 16
_Message = TypeVar("_Message")


class EngineStart(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine is made of. limit_bytes: the most data memory that its process may have; 0: no limit."""

    models_folder: str
    active: tuple[str, ...]
    max_kept_bytes: int
    limit_bytes: int


class EngineReady(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The models are loaded and warm; or, in ``fatal``, why one cannot be used."""

    models: tuple[EngineModel, ...] = ()
    doubts: dict[str, str] = {}
    fatal: str | None = None


class BatchAsk(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A batch. forget: sessions whose cached rows are dropped before it is computed."""

    number: int
    forget: tuple[str, ...]
    requests: tuple[LabelRequest, ...]


class BatchAnswer(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """The labels of a batch and the engine's counters; or ``error``, and whether it is one that ends the worker."""

    number: int
    labels: list[Labels]
    work: EngineWork
    error: str | None = None
    fatal: bool = False


class EngineBeat(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """A sign of life while a batch is computed. layer_rows: another number wherever it has gone on."""

    number: int
    layer_rows: int


class Channel:
    """One end of a socket. Each call sends or takes one whole message."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self._encoder = msgspec.msgpack.Encoder()
        self._held = bytearray(_BUFFER_BYTES)
        self._filled = 0

    def send(self, message: msgspec.Struct) -> None:
        """Send a message. Blocks; OSError, of which TimeoutError is one."""
        payload = self._encoder.encode(message)
        self.socket.sendall(_LENGTH.pack(len(payload)) + payload)

    def take(self, decoder: msgspec.msgpack.Decoder[_Message]) -> _Message:
        """Wait for a message. Blocks; EOFError: the other end is gone; OSError, of which TimeoutError is one."""
        self._fill(_LENGTH.size)
        end = _LENGTH.size + _LENGTH.unpack_from(self._held)[0]
        self._fill(end)
        message = decoder.decode(bytes(self._held[_LENGTH.size : end]))
        self._held[: self._filled - end] = self._held[end : self._filled]
        self._filled -= end
        return message

    def _fill(self, size: int) -> None:
        if len(self._held) < size:
            self._held.extend(bytes(size - len(self._held)))
        while self._filled < size:
            with memoryview(self._held) as held:
                received = self.socket.recv_into(held[self._filled :])
            if not received:
                raise EOFError
            self._filled += received
