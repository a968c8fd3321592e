"""How a record's value, or a WebSocket's message, is written: MessagePack, or JSON where its readers have no other.

Both are read, whatever is written: a map in MessagePack never begins with a brace, an object in JSON always does.
"""

from __future__ import annotations

from enum import StrEnum

_WHITE_SPACE = b" \t\r\n"


class WireFormat(StrEnum):
    """The forms of a value or a message."""

    MSGPACK = "msgpack"
    JSON = "json"


def is_json(data: bytes) -> bool:
    """Tell whether bytes are to be read as JSON."""
    return data[:1] == b"{" or (data[:1] in (b" ", b"\t", b"\r", b"\n") and data.lstrip(_WHITE_SPACE)[:1] == b"{")
