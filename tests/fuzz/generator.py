"""One seeded stream of messages for the offline and for the live run."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import msgspec

from tests.fuzz.crowd import Crowd, Fields
from tests.fuzz.field_changes import FIELD_CHANGES
from tests.fuzz.message import ACCEPTED, CANARY, Message
from tests.fuzz.record_changes import LARGE_RECORDS, RECORD_CHANGES

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


_UNTOUCHED, _FIELDS, _RECORD = 0.12, 0.42, 0.17
_ALSO_BYTES = 0.15
_FIELD_NAMES = tuple(FIELD_CHANGES)
_RECORD_NAMES = tuple(RECORD_CHANGES)
_LARGE_NAMES = tuple(LARGE_RECORDS)
_encode = msgspec.msgpack.encode

Picked = TypeVar("Picked")


class Generator:
    """Draws messages; the same seed, the same messages. large_share: how many are as large as may be, or larger."""

    def __init__(
        self,
        seed: int,
        *,
        sessions: int = 100,
        large_share: float = 0.0001,
        may_speak: Callable[[str], bool] | None = None,
    ) -> None:
        self._draw = random.Random(seed)
        self._large_share = large_share
        self._crowd = Crowd(self._draw, size=sessions, may_speak=may_speak or (lambda _: True))

    def next(self) -> Message:
        """Return the next message of the crowd."""
        return self.changed(self._crowd.next_fields())

    def large(self, kind: str) -> Message:
        """Return a message of one of the ``LARGE_RECORDS``."""
        return self._record(kind, self._crowd.next_fields())

    def changed(self, fields: Fields) -> Message:
        """Return a message made of a valid event, which is used up by it."""
        draw = self._draw
        if draw.random() < self._large_share:
            return self._record(_pick(draw, _LARGE_NAMES), fields)
        share = draw.random()
        if share < _UNTOUCHED:
            return _message("untouched", fields, _encode(fields), frozenset({ACCEPTED}))
        if share < _UNTOUCHED + _FIELDS:
            return self._fields(_pick(draw, _FIELD_NAMES), fields)
        if share < _UNTOUCHED + _FIELDS + _RECORD:
            return self._record(_pick(draw, _RECORD_NAMES), fields)
        value = _encode(fields)
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            value = _pick(draw, BYTE_CHANGES)(draw, value or b"\x80")
        return _message("bytes", fields, value, None)

    def _fields(self, name: str, fields: Fields) -> Message:
        change, expected = FIELD_CHANGES[name]
        key = cast("str", fields["session"]).encode()
        change(self._draw, fields)
        value = _encode(fields)
        if self._draw.random() < _ALSO_BYTES:
            change_bytes = _pick(self._draw, BYTE_CHANGES)
            return Message(kind=f"{name}+bytes", key=key, value=change_bytes(self._draw, value))
        return Message(kind=name, key=key, value=value, expected=expected)

    def _record(self, name: str, fields: Fields) -> Message:
        change, expected = RECORD_CHANGES.get(name) or LARGE_RECORDS[name]
        key, value, shift = change(self._draw, fields)
        return Message(kind=name, key=key, value=value, shift=shift, expected=expected)


def _pick(draw: random.Random, among: Sequence[Picked]) -> Picked:
    return among[int(draw.random() * len(among))]


def _message(kind: str, fields: Fields, value: bytes, expected: frozenset[str] | None) -> Message:
    return Message(kind=kind, key=cast("str", fields["session"]).encode(), value=value, expected=expected)
