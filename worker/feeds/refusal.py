"""Predicts whether a worker would refuse an event, and why, with the worker's own codec."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from caesura.schemas.codec import decode_event
from caesura.schemas.events import WordsEvent
from caesura.worker.errors import FatalError


class BadLineError(FatalError):
    """A line of a file that is not what its format has; names the line, never quotes it."""


def event_as_read(event: WordsEvent | Mapping[str, object]) -> WordsEvent:
    """Return an event, or the fields of one, as a worker reads it. Raises ValueError that says why it would not."""
    try:
        return decode_event(msgspec.msgpack.encode(event))
    except UnicodeError:
        raise ValueError("text: expected Unicode, got half a character") from None
    except OverflowError:
        raise ValueError("out_of_range: expected no number of more than 64 bits") from None
    except RecursionError:
        raise ValueError("malformed: the event: expected nothing nested so deep") from None


def why_refused(event: WordsEvent) -> str | None:
    """Return why a worker would refuse an event, without a word of it; None where it would take it."""
    try:
        event_as_read(event)
    except ValueError as error:
        return str(error)
    return None
