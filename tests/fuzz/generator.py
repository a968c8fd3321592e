"""One seeded stream of messages for the offline and for the live run."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import msgspec

from tests.fuzz.byte_changes import BYTE_CHANGES
from tests.fuzz.crowd import Crowd, Fields
from tests.fuzz.field_changes import FIELD_CHANGES
from tests.fuzz.message import ACCEPTED, Message
from tests.fuzz.record_changes import LARGE_RECORDS, RECORD_CHANGES

__all__ = ["Generator"]

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
