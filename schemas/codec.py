"""MessagePack to types and back."""

from __future__ import annotations

import msgspec

from schemas.errors import InvalidEventError, NewerVersionError
from schemas.events import WordsEvent
from schemas.segments import Segment, TranslationSegment

__all__ = [
    "decode_event",
    "decode_segment",
    "decode_translation",
    "encode_event",
    "encode_segment",
    "encode_translation",
]

_EVENT = msgspec.msgpack.Decoder(WordsEvent)
_SEGMENT = msgspec.msgpack.Decoder(Segment)
_TRANSLATION = msgspec.msgpack.Decoder(TranslationSegment)
_ENCODER = msgspec.msgpack.Encoder()


def decode_event(data: bytes) -> WordsEvent:
    """Read an event. InvalidEventError, NewerVersionError."""
    try:
        event = _EVENT.decode(data)
    except msgspec.DecodeError:
        raise InvalidEventError("malformed", "not an event") from None
    if not event.version.startswith("1."):
        raise NewerVersionError(event.version)
    return event


def encode_event(event: WordsEvent) -> bytes:
    """Return an event as MessagePack."""
    return _ENCODER.encode(event)


def encode_segment(segment: Segment) -> bytes:
    """Return a segment as MessagePack."""
    return _ENCODER.encode(segment)


def decode_segment(data: bytes) -> Segment:
    """Read a segment."""
    return _SEGMENT.decode(data)


def encode_translation(segment: TranslationSegment) -> bytes:
    """Return a translation segment as MessagePack."""
    return _ENCODER.encode(segment)


def decode_translation(data: bytes) -> TranslationSegment:
    """Read a translation segment."""
    return _TRANSLATION.decode(data)
