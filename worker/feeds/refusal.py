"""Why a worker would refuse an event that is about to be sent; the codec that a worker decodes with is asked."""

from __future__ import annotations

from schemas.codec import decode_event, encode_event
from schemas.events import WordsEvent

__all__ = ["why_refused"]


def why_refused(event: WordsEvent) -> str | None:
    """Return why a worker would refuse an event, without a word of it; None where it would take it."""
    try:
        decode_event(encode_event(event))
    except UnicodeError:
        return "text: expected Unicode, and half a character stands there"
    except ValueError as error:
        return str(error)
    return None
