"""The messages between a worker and its engine's process: MessagePack, each behind its length.

The worker sends ``EngineStart`` once, then a ``BatchRequest`` for each batch. The process answers with ``EngineReady``,
then with a ``BatchAnswer`` for each request. While it computes a batch it sends ``EngineHeartbeat`` once a second.
"""

from __future__ import annotations

import socket
import struct
from typing import TypeVar

import msgspec

from caesura.schemas.labels import Labels
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.ports.engine import EngineModel, EngineWork

_LENGTH = struct.Struct("<I")
_BUFFER_BYTES = 1 << 16
_Message = TypeVar("_Message")


class EngineStart(msgspec.Struct, frozen=True, kw_only=True):
    """The engine's models and limits. limit_bytes: data memory that its process may use; 0: no limit."""

    models_folder: str
    active: tuple[str, ...]
    max_kept_bytes: int
    limit_bytes: int


class EngineReady(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The models are loaded and warm; or ``fatal`` gives the reason why one cannot be used."""

    models: tuple[EngineModel, ...] = ()
    doubts: dict[str, str] = {}
    fatal: str | None = None


class BatchRequest(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A batch to label. forget: sessions whose cached rows are dropped first."""

    number: int
    forget: tuple[str, ...]
    requests: tuple[LabelRequest, ...]


class BatchAnswer(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """The labels of a batch and the engine's counters; or an ``error``. fatal: the error ends the worker."""

    number: int
    labels: list[Labels]
    work: EngineWork
    error: str | None = None
    fatal: bool = False


class EngineHeartbeat(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """A sign of life while a batch is computed. layer_rows: a counter that changes as the computation advances."""

    number: int
    layer_rows: int


class Channel:
    """One end of a socket. Each call sends or receives one whole message."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self._encoder = msgspec.msgpack.Encoder()
        self._held = bytearray(_BUFFER_BYTES)
        self._filled = 0

    def send(self, message: msgspec.Struct) -> None:
        """Send a message. Blocks. OSError, also TimeoutError."""
        payload = self._encoder.encode(message)
        self.socket.sendall(_LENGTH.pack(len(payload)) + payload)

    def take(self, decoder: msgspec.msgpack.Decoder[_Message]) -> _Message:
        """Receive a message. Blocks. EOFError if the other end has closed; OSError, also TimeoutError."""
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
