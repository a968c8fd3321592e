"""JSON from text that nobody has checked: whatever is wrong with it is one kind of error."""

from __future__ import annotations

import json

__all__ = ["UnheldJsonError", "json_value", "json_value_at"]

_DECODER = json.JSONDecoder()


class UnheldJsonError(json.JSONDecodeError):
    """What may well be JSON, and is none that is held here: nested too deep, or a number of thousands of digits."""


def json_value(text: str) -> object:
    """Return the value that a text is, white space around it. Raises JSONDecodeError, of any text."""
    value, at = json_value_at(text, len(text) - len(text.lstrip()))
    if rest := text[at:].lstrip():
        raise json.JSONDecodeError("more than one value", text, len(text) - len(rest))
    return value


def json_value_at(text: str, at: int) -> tuple[object, int]:
    """Return the value that begins at a place of a text, and where it ends. Raises JSONDecodeError, of any text."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise UnheldJsonError("nested too deep", text, at) from None
    except ValueError:  # of the interpreter's limit on digits
        raise UnheldJsonError("a number of too many digits", text, at) from None
    return value, end
