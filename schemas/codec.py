"""MessagePack to types and back, strictly.

Decoding raises ``InvalidEventError`` and ``NewerVersionError`` and nothing else; a message names the field and what was
expected there, never what was found (promise 5). Unknown fields are tolerated: a minor version may have added them.
Encoding is canonical: fields in the order of their declaration, defaults left out, keys of maps sorted; so equal values
are equal bytes.
"""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from schemas.dead_letters import DeadLetterReason as Reason
from schemas.errors import InvalidEventError
from schemas.events import WordsEvent
from schemas.limits import check_event, check_event_bytes
from schemas.segments import Segment, TranslationSegment
from schemas.structure import check_structure
from schemas.tentative import Tentative
from schemas.versions import check_version

__all__ = [
    "decode_event",
    "decode_segment",
    "decode_tentative",
    "decode_translation",
    "encode_event",
    "encode_segment",
    "encode_tentative",
    "encode_translation",
]

_Decoded = TypeVar("_Decoded")


class _Versioned(msgspec.Struct):
    """The one field that is read first."""

    version: str


_VERSIONED = msgspec.msgpack.Decoder(_Versioned)
_EVENT = msgspec.msgpack.Decoder(WordsEvent)
_SEGMENT = msgspec.msgpack.Decoder(Segment)
_TRANSLATION = msgspec.msgpack.Decoder(TranslationSegment)
_TENTATIVE = msgspec.msgpack.Decoder(Tentative)
_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


def decode_event(data: bytes) -> WordsEvent:
    """Read an event from outside, checking shape, version, types and limits in this order."""
    check_event_bytes(data)
    check_structure(data)
    event = _decode(_EVENT, data)
    check_event(event)
    return event


def encode_event(event: WordsEvent) -> bytes:
    """Return an event as MessagePack; the event is not checked."""
    return _ENCODER.encode(event)


def decode_segment(data: bytes) -> Segment:
    """Read a segment."""
    return _decode(_SEGMENT, data)


def encode_segment(segment: Segment) -> bytes:
    """Return a segment as MessagePack."""
    return _ENCODER.encode(segment)


def decode_translation(data: bytes) -> TranslationSegment:
    """Read a translation segment."""
    return _decode(_TRANSLATION, data)


def encode_translation(segment: TranslationSegment) -> bytes:
    """Return a translation segment as MessagePack."""
    return _ENCODER.encode(segment)


def decode_tentative(data: bytes) -> Tentative:
    """Read a session's unfrozen words."""
    return _decode(_TENTATIVE, data)


def encode_tentative(tentative: Tentative) -> bytes:
    """Return a session's unfrozen words as MessagePack."""
    return _ENCODER.encode(tentative)


def _decode(decoder: msgspec.msgpack.Decoder[_Decoded], data: bytes) -> _Decoded:
    """Decode with the version first: what a newer major means by the other fields is not known here."""
    try:
        check_version(_VERSIONED.decode(data).version)
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise _explained(str(error)) from None
    except (msgspec.DecodeError, RecursionError):
        raise InvalidEventError(Reason.MALFORMED, "the event: expected MessagePack") from None
    except UnicodeDecodeError:
        raise InvalidEventError(Reason.MALFORMED, "the event: expected text in UTF-8") from None


# msgspec's messages: what was expected comes from our types, but an enum's value and a map's keys come from the input.
_AT = re.compile(r" - at (?P<key>`key` in )?`\$(?P<path>(?:\.[a-z_]+|\[\d+\]|\[\.\.\.\])*)`$")
_MISSING = re.compile(r"Object missing required field `(?P<field>[a-z_]+)`")
_WRONG_TYPE = re.compile(r"Expected `(?P<expected>[a-z0-9_ |]+)`, got `[A-Za-z0-9_]+`")
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
    return InvalidEventError(Reason.OUT_OF_RANGE, f"{place}: expected a value as the schema says")
