"""MessagePack or JSON to types and back, strictly.

Decoding raises ``InvalidEventError`` and ``NewerVersionError`` and nothing else; a message names the field and what was
expected there, never what was found (promise 5). Unknown fields are tolerated: a minor version may have added them.
Encoding is canonical: fields in the order of their declaration, defaults left out, keys of maps sorted; so equal values
are equal bytes.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

import msgspec

from caesura.schemas.dead_letters import DeadLetterReason as Reason
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.events import Emission, WordsEvent
from caesura.schemas.json_structure import check_json_structure
from caesura.schemas.limits import check_event, check_event_bytes
from caesura.schemas.segments import Segment, TranslationSegment
from caesura.schemas.structure import check_structure
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import check_version
from caesura.schemas.wire import WireFormat, is_json

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


_Decoded = TypeVar("_Decoded")


class _Versioned(msgspec.Struct):
    """The one field that is read first."""

    version: str


class _Decoder(Generic[_Decoded]):
    """Reads one type, in either form."""

    def __init__(self, kind: type[_Decoded]) -> None:
        self.msgpack = msgspec.msgpack.Decoder(kind)
        self.json = msgspec.json.Decoder(kind)


_VERSIONED = _Decoder(_Versioned)
_EVENT = _Decoder(WordsEvent)
_SEGMENT = _Decoder(Segment)
_TRANSLATION = _Decoder(TranslationSegment)
_TENTATIVE = _Decoder(Tentative)
_MSGPACK = msgspec.msgpack.Encoder(order="deterministic")
_JSON = msgspec.json.Encoder(order="deterministic")


def decode_event(data: bytes) -> WordsEvent:
    """Read an event from outside, checking shape, version, types and limits in this order."""
    check_event_bytes(data)
    event = _decoded_at_once(data)
    if event is None:
        (check_json_structure if is_json(data) else check_structure)(data)
        event = _decode(_EVENT, data)
    check_event(event)
    return event


def _decoded_at_once(data: bytes) -> WordsEvent | None:
    """Return an event whose shape is plainly sound; None where something is wrong with it, or may be."""
    decoder, encoder = (_EVENT.json, _JSON) if is_json(data) else (_EVENT.msgpack, _MSGPACK)
    try:
        event = decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if encoder.encode(event) != data and not is_plainly_sound(data):
        return None
    check_version(event.version)
    return event


def encode_event(event: WordsEvent, wire: WireFormat = WireFormat.MSGPACK) -> bytes:
    """Return an event's bytes; the event is not checked."""
    return _encode(event, wire)


def decode_segment(data: bytes) -> Segment:
    """Read a segment."""
    return _decode(_SEGMENT, data)


def encode_segment(segment: Segment, wire: WireFormat = WireFormat.MSGPACK) -> bytes:
    """Return a segment's bytes."""
    return _encode(segment, wire)


def decode_translation(data: bytes) -> TranslationSegment:
    """Read a translation segment."""
    return _decode(_TRANSLATION, data)


def encode_translation(segment: TranslationSegment, wire: WireFormat = WireFormat.MSGPACK) -> bytes:
    """Return a translation segment's bytes."""
    return _encode(segment, wire)


def decode_tentative(data: bytes) -> Tentative:
    """Read a session's unfrozen words."""
    return _decode(_TENTATIVE, data)


def encode_tentative(tentative: Tentative, wire: WireFormat = WireFormat.MSGPACK) -> bytes:
    """Return the bytes of a session's unfrozen words."""
    return _encode(tentative, wire)


def _encode(value: msgspec.Struct, wire: WireFormat) -> bytes:
    return _JSON.encode(value) if wire is WireFormat.JSON else _MSGPACK.encode(value)


def _decode(decoder: _Decoder[_Decoded], data: bytes) -> _Decoded:
    """Decode with the version first: what a newer major means by the other fields is not known here."""
    try:
        if is_json(data):
            check_version(_VERSIONED.json.decode(data).version)
            return decoder.json.decode(data)
        check_version(_VERSIONED.msgpack.decode(data).version)
        return decoder.msgpack.decode(data)
    except msgspec.ValidationError as error:
        raise _explained(str(error)) from None
    except (msgspec.DecodeError, RecursionError):
        raise InvalidEventError(Reason.MALFORMED, "the event: expected MessagePack or JSON") from None
    except UnicodeDecodeError:
        raise InvalidEventError(Reason.MALFORMED, "the event: expected text in UTF-8") from None


# msgspec's messages: what was expected comes from our types, but an enum's value and a map's keys come from the input.
_AT = re.compile(r" - at (?P<key>`key` in )?`\$(?P<path>(?:\.[a-z_]+|\[\d+\]|\[\.\.\.\])*)`$")
_MISSING = re.compile(r"Object missing required field `(?P<field>[a-z_]+)`")
_WRONG_TYPE = re.compile(r"Expected `(?P<expected>[a-z0-9_ |]+)`, got `[A-Za-z0-9_]+`")
_INDEX = re.compile(r"\[\d+\]$")
_EXPECTED = {
    "emission": f"one of {', '.join(Emission)}",
    "lang": "a language as BCP-47 writes it, such as en or zh-Hans",
    "targets": "a route's name, of 1 to 64 of A-Z, a-z, 0-9, dot, _ and -",
}
"""What a producer's field holds where msgspec says no more than that a pattern or an enum does not fit."""
_WRONG_VALUE = re.compile(r"Expected `(?P<expected>[a-z]+)` (?P<bound>(?:of length )?[<>]=? ?[0-9.]+)")


def _explained(message: str) -> InvalidEventError:
    """Return the error for one of msgspec's messages, made anew of the parts that are ours."""
    at = _AT.search(message)
    path = at.group("path").lstrip(".").replace("[...]", "") if at else ""
    place = path or "the event"
    if at and at.group("key"):
        return InvalidEventError(Reason.WRONG_TYPE, f"{place}: expected text as its keys")
    missing = _MISSING.match(message)
    if missing:
        return InvalidEventError(
            Reason.MISSING_FIELD, f"{path}.{missing['field']}".lstrip(".") + ": expected, but missing"
        )
    wrong_type = _WRONG_TYPE.match(message)
    if wrong_type:
        return InvalidEventError(Reason.WRONG_TYPE, f"{place}: expected {wrong_type['expected']}")
    wrong_value = _WRONG_VALUE.match(message)
    if wrong_value:
        reason = Reason.OVERSIZED if "length <" in wrong_value["bound"] else Reason.OUT_OF_RANGE
        return InvalidEventError(reason, f"{place}: expected {wrong_value['expected']} {wrong_value['bound']}")
    expected = _EXPECTED.get(_INDEX.sub("", place).rpartition(".")[2], "a value as the schema says")
    return InvalidEventError(Reason.OUT_OF_RANGE, f"{place}: expected {expected}")
