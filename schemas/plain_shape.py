"""Whether bytes are plainly whole, flat and without a field twice: what most events are, told without a walk.

The decoder keeps the last of two values under one key. So bytes that come out the same when what was read of them is
written again cannot have held a key twice, nor anything behind their end; and what reads as ``_Flat`` is not deep. A
"no" says nothing: producers may write numbers longer than they need. Then ``structure`` walks.
"""

from __future__ import annotations

import msgspec

from caesura.schemas.wire import is_json

__all__ = ["is_plainly_sound"]

_Scalar = bool | int | float | str | None
_Flat = dict[str, _Scalar | dict[str, _Scalar] | list[_Scalar | dict[str, _Scalar]]]

_READ = msgspec.msgpack.Decoder(_Flat)
_READ_JSON = msgspec.json.Decoder(_Flat)
_WRITE = msgspec.msgpack.Encoder()
_WRITE_JSON = msgspec.json.Encoder()
_LONG_HEAD = b"\xde\x00"


def is_plainly_sound(data: bytes) -> bool:
    """Tell whether bytes surely pass ``check_structure``, or ``check_json_structure`` where they are JSON."""
    try:
        if is_json(data):
            return _has_each_text(data)
        return _WRITE.encode(_READ.decode(data)) == _with_short_head(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False


def _with_short_head(data: bytes) -> bytes:
    """Return a map's bytes with the head that they need: an encoder of types with many fields keeps room for more."""
    return bytes((0x80 | data[2],)) + data[3:] if data[:2] == _LONG_HEAD and data[2] < 16 else data


def _has_each_text(data: bytes) -> bool:
    """Tell whether JSON without escapes still has all its texts when it is written again: a key is two quotes."""
    if b"\\" in data:
        return False
    written = _WRITE_JSON.encode(_READ_JSON.decode(data))
    return b"\\" not in written and written.count(b'"') == data.count(b'"')
