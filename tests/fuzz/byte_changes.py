"""An event's bytes, changed without a look at what they mean."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.message import CANARY

__all__ = ["BYTE_CHANGES", "ByteChange"]

ByteChange = Callable[[random.Random, bytes], bytes]

_HEADERS = bytes(range(0xC0, 0xE0)) + b"\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xe0\xff"
_CLAIMS: tuple[bytes, ...] = (
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xdb\xff\xff\xff\xff",
    b"\xc6\x7f\xff\xff\xff",
)
_CLAIMS += (b"\xdc\xff\xff", b"\xde\xff\xff", b"\xc9\xff\xff\xff\xff\x01", b"\xcb\x7f\xf8" + b"\x00" * 6)


def _bits_flipped(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _bytes_set(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _header_set(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data))
    return data[:at] + bytes((draw.choice(_HEADERS),)) + data[at + 1 :]


def _count_claimed(draw: random.Random, data: bytes) -> bytes:
    """Put a length in that nothing comes up to."""
    at = draw.randrange(len(data))
    return data[:at] + draw.choice(_CLAIMS) + data[at + draw.randrange(2) :]


def _inserted(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.randbytes(draw.choice((1, 2, 16))) + data[at:]


def _deleted(draw: random.Random, data: bytes) -> bytes:
    start, end = sorted((draw.randrange(len(data)), draw.randrange(len(data) + 1)))
    return data[:start] + data[end:]


def _repeated(draw: random.Random, data: bytes) -> bytes:
    start, end = sorted((draw.randrange(len(data)), draw.randrange(len(data) + 1)))
    return data[:end] + data[start:end] * draw.randrange(1, 4) + data[end:]


def _turned(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data))
    return data[at:] + data[:at]


def _overwritten(draw: random.Random, data: bytes) -> bytes:
    start = draw.randrange(len(data))
    noise = draw.randbytes(draw.randrange(1, 9))
    return data[:start] + noise + data[start + len(noise) :]


def _spliced(draw: random.Random, data: bytes) -> bytes:
    """Cut the event's text away in the middle and go on with its beginning."""
    return data[: draw.randrange(len(data))] + data[draw.randrange(len(data)) :]


def _noise(draw: random.Random, data: bytes) -> bytes:
    return draw.randbytes(draw.randrange(2 * len(data)))


def _noise_with_a_word(draw: random.Random, data: bytes) -> bytes:
    return draw.randbytes(draw.randrange(8)) + CANARY.encode() + data[: draw.randrange(4)]


BYTE_CHANGES: tuple[ByteChange, ...] = (
    _bits_flipped,
    _bits_flipped,
    _bytes_set,
    _bytes_set,
    _header_set,
    _header_set,
    _count_claimed,
    _inserted,
    _deleted,
    _repeated,
    _turned,
    _overwritten,
    _spliced,
    _noise,
    _noise_with_a_word,
)
"""Each takes an event's bytes, at least one, and returns others; the commoner ones twice."""
