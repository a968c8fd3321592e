"""What passes without a walk would have passed the walk: a key twice, a tail, a depth are never overlooked."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.codec import encode_event
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.json_structure import check_json_structure
from caesura.schemas.plain_shape import is_plainly_sound
from caesura.schemas.structure import MAX_DEPTH, check_structure
from caesura.schemas.wire import WireFormat, is_json
from tests.harness.speech import event

_KEYS = st.sampled_from(["version", "seq", "words", "a", "b"])
_SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=3)
)
_PAIRS = st.lists(st.tuples(_KEYS, _SCALARS), max_size=5)
"""The items of a map, keys perhaps twice."""


def _map(pairs: list[tuple[str, object]], *, float32: bool = False, long_head: bool = False) -> bytes:
    """Return a map of these items, in MessagePack; numbers with a point perhaps in four bytes."""
    body = b"".join(_packed(key, float32) + _packed(value, float32) for key, value in pairs)
    return (b"\xde\x00" + bytes([len(pairs)]) if long_head else bytes([0x80 | len(pairs)])) + body


def _packed(value: object, float32: bool) -> bytes:
    if float32 and isinstance(value, float):
        return b"\xca\x3f\x80\x00\x00"
    return msgspec.msgpack.encode(value)


def _is_sound(data: bytes) -> bool:
    try:
        (check_json_structure if is_json(data) else check_structure)(data)
    except InvalidEventError:
        return False
    return True


@given(pairs=_PAIRS, float32=st.booleans(), long_head=st.booleans(), tail=st.sampled_from([b"", b"\xc0", b"\x80"]))
def test_no_map_passes_that_the_walk_refuses(
    pairs: list[tuple[str, object]], float32: bool, long_head: bool, tail: bytes
) -> None:
    data = _map(pairs, float32=float32, long_head=long_head) + tail
    assert _is_sound(data) or not is_plainly_sound(data)


@given(pairs=_PAIRS, tail=st.sampled_from(["", " ", "{}", "x"]), indent=st.none() | st.integers(0, 2))
def test_no_object_in_json_passes_that_the_walk_refuses(
    pairs: list[tuple[str, object]], tail: str, indent: int | None
) -> None:
    items = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, indent=indent)}" for key, value in pairs]
    data = ("{" + ", ".join(items) + "}" + tail).encode()
    assert _is_sound(data) or not is_plainly_sound(data)


@given(data=st.binary(max_size=12) | st.text(max_size=12).map(lambda text: ("{" + text).encode()))
def test_no_bytes_whatever_pass_that_the_walk_refuses(data: bytes) -> None:
    assert _is_sound(data) or not is_plainly_sound(data)


@pytest.mark.parametrize("wire", WireFormat)
def test_an_event_as_its_producer_writes_it_needs_no_walk(wire: WireFormat) -> None:
    assert is_plainly_sound(encode_event(event("call-1", 7, "so", "we", "went", "café"), wire))


@pytest.mark.parametrize("wire", WireFormat)
def test_what_is_deep_is_left_to_the_walk(wire: WireFormat) -> None:
    deep: object = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    encode = msgspec.json.encode if wire is WireFormat.JSON else msgspec.msgpack.encode
    data = encode({"version": "1.0", "later": deep})
    assert not _is_sound(data)
    assert not is_plainly_sound(data)
