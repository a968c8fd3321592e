"""The shape of MessagePack bytes, checked before they are decoded: whole, nothing after the end, no field twice.

The decoder keeps the last of two values under one key and goes as deep as its input does; an event from outside must
have neither. Messages name a field where it is one of ours, and never quote what they found.
"""

from __future__ import annotations

from caesura.schemas.dead_letters import DeadLetterReason as Reason
from caesura.schemas.errors import InvalidEventError

MAX_DEPTH = 16
"""How deep an event may nest; ours are four deep, what a later minor version adds may be deeper."""

# Bytes that follow the first one: of a fixed size, or as many as the number that follows says.
_FIXED = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}
_FIXED |= {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}
_COUNTED = {0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0), 0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1)}
_COUNTED |= {0xD9: (1, 0), 0xDA: (2, 0), 0xDB: (4, 0)}
_ARRAYS = {0xDC: 2, 0xDD: 4}
_MAPS = {0xDE: 2, 0xDF: 4}


def check_structure(data: bytes) -> None:
    """Refuse bytes that are not exactly one MessagePack value, nest too deep, or hold a map with a key twice."""
    end = _Walk(data).value(0, depth=0)
    if end != len(data):
        raise InvalidEventError(Reason.MALFORMED, "the event: expected nothing after its end")


class _Walk:
    """One pass over the bytes; each method takes where something starts and returns where it ends."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def value(self, start: int, *, depth: int) -> int:
        if start >= len(self._data):
            raise _truncated()
        first = self._data[start]
        at = start + 1
        if first <= 0x7F or first >= 0xE0:
            return at
        if 0xA0 <= first <= 0xBF:
            return self._skip(at, first & 0x1F)
        size = _FIXED.get(first)
        if size is not None:
            return self._skip(at, size)
        if first in _COUNTED:
            width, more = _COUNTED[first]
            return self._skip(at + width, self._number(at, width) + more)
        return self._container(first, at, depth)

    def _container(self, first: int, at: int, depth: int) -> int:
        if depth >= MAX_DEPTH:
            raise InvalidEventError(Reason.MALFORMED, f"the event: expected at most {MAX_DEPTH} levels of nesting")
        if first in _ARRAYS or 0x90 <= first <= 0x9F:
            width = _ARRAYS.get(first, 0)
            count = self._number(at, width) if width else first & 0x0F
            at += width
            for _ in range(count):
                at = self.value(at, depth=depth + 1)
            return at
        if first in _MAPS or 0x80 <= first <= 0x8F:
            width = _MAPS.get(first, 0)
            count = self._number(at, width) if width else first & 0x0F
            return self._entries(at + width, count, depth)
        raise InvalidEventError(Reason.MALFORMED, "the event: expected MessagePack or JSON")

    def _entries(self, at: int, count: int, depth: int) -> int:
        keys: set[bytes] = set()
        for _ in range(count):
            key_end = self.value(at, depth=depth + 1)
            keys.add(_text_of(self._data[at:key_end]))
            at = self.value(key_end, depth=depth + 1)
        if len(keys) < count:
            raise InvalidEventError(Reason.DUPLICATE_FIELD, "the event: expected each field of a map once")
        return at

    def _number(self, at: int, width: int) -> int:
        return int.from_bytes(self._data[at : self._skip(at, width)], "big")

    def _skip(self, at: int, size: int) -> int:
        if at + size > len(self._data):
            raise _truncated()
        return at + size


def _text_of(key: bytes) -> bytes:
    """Return a key without the header of a string, which may have been written in several lengths."""
    header = {0xD9: 2, 0xDA: 3, 0xDB: 5}.get(key[0], 1 if 0xA0 <= key[0] <= 0xBF else 0)
    return b"s" + key[header:] if header else b"o" + key


def _truncated() -> InvalidEventError:
    return InvalidEventError(Reason.MALFORMED, "the event: expected more bytes, it is cut off")
