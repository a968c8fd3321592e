"""The words of a snapshot as they are stored, kept from one snapshot to the next (``schemas.state``)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schemas.state import NO_WORDS, ModelWord

__all__ = ["StoredWords"]

_ENCODER = msgspec.msgpack.Encoder()


class StoredWords:
    """A buffer's words as MessagePack, kept from one snapshot to the next: most words stand in many of them."""

    __slots__ = ("_data", "_lengths")

    def __init__(self) -> None:
        self._data = bytearray()
        self._lengths: list[int] = []

    def __len__(self) -> int:
        """Count the words."""
        return len(self._lengths)

    def add(self, words: Iterable[ModelWord]) -> None:
        """Add the next words."""
        for word in words:
            encoded = _ENCODER.encode(word)
            self._data += encoded
            self._lengths.append(len(encoded))

    def drop(self, count: int) -> None:
        """Let so many of the first words go, or all where there are no more."""
        if self._lengths:
            del self._data[: sum(self._lengths[:count])], self._lengths[:count]

    def array(self) -> msgspec.Raw:
        """Return them all as one array."""
        if not self._lengths:
            return NO_WORDS
        return msgspec.Raw(_array_header(len(self._lengths)) + self._data)


def _array_header(size: int) -> bytes:
    """Return what a MessagePack array of so many values begins with."""
    if size < 1 << 4:
        return bytes((0x90 | size,))
    return b"\xdc" + size.to_bytes(2, "big") if size < 1 << 16 else b"\xdd" + size.to_bytes(4, "big")
