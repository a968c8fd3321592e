"""The words of a snapshot as they are stored (``state``): each encoded once, and put together as an array."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from caesura.schemas.state import NO_WORDS, ModelWord

__all__ = ["encode_word", "word_array"]

_ENCODER = msgspec.msgpack.Encoder()


def encode_word(word: ModelWord) -> bytes:
    """Return a word as MessagePack."""
    return _ENCODER.encode(word)


def word_array(words: Sequence[bytes]) -> msgspec.Raw:
    """Return encoded words as one array, as the codec writes it."""
    return msgspec.Raw(b"".join((_array_header(len(words)), *words))) if words else NO_WORDS


def _array_header(size: int) -> bytes:
    """Return what a MessagePack array of so many values begins with."""
    if size < 1 << 4:
        return bytes((0x90 | size,))
    return b"\xdc" + size.to_bytes(2, "big") if size < 1 << 16 else b"\xdd" + size.to_bytes(4, "big")
