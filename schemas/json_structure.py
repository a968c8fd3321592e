"""The shape of JSON from outside, checked before it is decoded: UTF-8, one value, no field twice, not too deep.

What ``schemas.structure`` is to MessagePack. Messages never quote what they found.
"""

from __future__ import annotations

import json
import re

from schemas.dead_letters import DeadLetterReason as Reason
from schemas.errors import InvalidEventError
from schemas.structure import MAX_DEPTH

__all__ = ["check_json_structure"]

_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def check_json_structure(data: bytes) -> None:
    """Refuse bytes that are not exactly one JSON value in UTF-8, nest too deep, or hold an object with a key twice."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidEventError(Reason.MALFORMED, "the event: expected text in UTF-8") from None
    depth = 0
    for match in _TEXT_OR_BRACKET.finditer(text):
        sign = match.group()
        depth += 1 if sign in "[{" else -1 if sign in "]}" else 0
        if depth > MAX_DEPTH:
            raise InvalidEventError(Reason.MALFORMED, f"the event: expected at most {MAX_DEPTH} levels of nesting")
    try:
        json.loads(text, object_pairs_hook=_once)
    except InvalidEventError:
        raise
    except (ValueError, RecursionError):  # JSONDecodeError is a ValueError; so is a number of thousands of digits
        raise InvalidEventError(Reason.MALFORMED, "the event: expected JSON, whole and nothing after it") from None


def _once(pairs: list[tuple[str, object]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise InvalidEventError(Reason.DUPLICATE_FIELD, "the event: expected each field of a map once")
