"""JSON from outside, read in one way: UTF-8, no field twice, not too deep, no NaN, no number without end.

What ``structure`` is to MessagePack. Kafka's records, WebSocket frames, recognisers' messages and files of
speech are all read here. Messages never quote what they found.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

import msgspec

from caesura.schemas.dead_letters import DeadLetterReason as Reason
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.structure import MAX_DEPTH

# A text that is not closed is one match up to the end: looked for anew from each quote in it, it would take a square.
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


def check_json_structure(data: bytes) -> None:
    """Refuse bytes that are not exactly one JSON value in UTF-8, nest too deep, or hold an object with a key twice."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidEventError(Reason.MALFORMED, "the event: expected text in UTF-8") from None
    _check_depth(text)
    try:
        json.loads(text, object_pairs_hook=_once)
    except InvalidEventError:
        raise
    except (ValueError, RecursionError):  # JSONDecodeError is a ValueError; so is a number of thousands of digits
        raise InvalidEventError(Reason.MALFORMED, "the event: expected JSON, whole and nothing after it") from None


def decode_json(text: str | bytes) -> object:
    """Return the value that a text is. Raises InvalidEventError."""
    try:
        data = text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError:
        raise InvalidEventError(Reason.MALFORMED, "the event: expected text in UTF-8") from None
    check_json_structure(data)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise InvalidEventError(Reason.MALFORMED, "the event: expected JSON, whole and nothing after it") from None


def json_value_at(text: str, at: int) -> tuple[object, int]:
    """Return the value that begins at a place of a text, and where it ends.

    Raises json.JSONDecodeError where no whole value begins there, InvalidEventError for a value that is not taken.
    """
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (json.JSONDecodeError, InvalidEventError):
        raise
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # of the interpreter's limit on digits
        raise InvalidEventError(Reason.OUT_OF_RANGE, "the event: expected no number of thousands of digits") from None
    _check_depth(text[at:end])
    return value, end


def _check_depth(text: str) -> None:
    depth = 0
    for match in _TEXT_OR_BRACKET.finditer(text):
        sign = match.group()
        depth += 1 if sign in "[{" else -1 if sign in "]}" else 0
        if depth > MAX_DEPTH:
            raise _too_deep()


def _too_deep() -> InvalidEventError:
    return InvalidEventError(Reason.MALFORMED, f"the event: expected at most {MAX_DEPTH} levels of nesting")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise InvalidEventError(Reason.DUPLICATE_FIELD, "the event: expected each field of a map once")
    return fields


def _number(parse: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        if not math.isfinite(number := parse(text)):
            raise InvalidEventError(Reason.OUT_OF_RANGE, "the event: expected finite numbers")
        return number

    return read


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=_number(float), parse_constant=_number(float))
