"""The time that decoding takes grows with the bytes and not with their square, whatever they are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from caesura.schemas.codec import decode_event, decode_segment
from caesura.schemas.state import decode_state
from tests.harness.cost import LINEAR_AT_MOST, growth

HOSTILE: dict[str, Callable[[int], bytes]] = {
    "quotes escaped, no end": lambda size: b'{"a":"' + b'\\"' * (size // 2),
    "backslashes": lambda size: b'{"a":"' + b"\\" * size,
    "texts side by side": lambda size: b'{"a":[' + b'"x" ' * (size // 4),
    "quotes": lambda size: b"{" + b'"' * size,
    "blanks": lambda size: b" " * size + b"{",
    "blanks within": lambda size: b'{"version":"1.2"' + b" " * size + b"x",
    "brackets side by side": lambda size: b'{"a":[' + b"[]," * (size // 3) + b"[]]}",
    "fields": lambda size: b"{" + b",".join(b'"%d":0' % number for number in range(size // 10)) + b"}",
    "words": lambda size: (
        b'{"version":"1.2","session":"s","seq":0,"lang":"en","words":['
        + b",".join([b'{"text":"a"}'] * (size // 13))
        + b"]}"
    ),
    "a word of a wrong kind at the end": lambda size: (
        b'{"version":"1.2","session":"s","seq":0,"lang":"en","words":['
        + b",".join([b'{"text":"a"}'] * (size // 13))
        + b",3]}"
    ),
    "a long enum": lambda size: (
        b'{"version":"1.2","session":"s","seq":0,"lang":"en","options":{"emission":"'
        + b" - at `$.a" * (size // 10)
        + b'"}}'
    ),
    "one text": lambda size: b'{"version":"1.2","session":"' + b"s" * size + b'","seq":0,"lang":"en"}',
    "digits": lambda size: b'{"seq":' + b"9" * size + b"}",
    "msgpack arrays": lambda size: b"\x81\xa1a\xdd" + (size - 8).to_bytes(4, "big") + b"\x90" * (size - 8),
    "msgpack maps": lambda size: b"\x81\xa1a\xdd" + (size - 8).to_bytes(4, "big") + b"\x80" * (size - 8),
    "msgpack keys": lambda size: (
        b"\xdf"
        + (size // 6).to_bytes(4, "big")
        + b"".join(b"\xce" + number.to_bytes(4, "big") + b"\xc0" for number in range(size // 6))
    ),
    "msgpack counts beyond the end": lambda size: b"\x81\xa1a\xdd\xff\xff\xff\xff" + b"\xc0" * size,
}
DECODERS = (decode_event, decode_segment, decode_state)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_decoding_is_linear(hostile: str, decode: Callable[[bytes], object]) -> None:
    def read(data: bytes) -> None:
        with contextlib.suppress(ValueError):
            decode(data)

    assert growth(HOSTILE[hostile], read) <= LINEAR_AT_MOST
