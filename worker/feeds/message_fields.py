"""The fields of a recogniser's message, read as its documentation says; a wrong one is named, never quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import JSONDecodeError

from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.json_text import UnheldJsonError, json_value

__all__ = [
    "confidence",
    "either",
    "flag",
    "name_of",
    "number",
    "object_in_text",
    "object_or_empty",
    "objects",
    "part",
    "text",
    "written_list",
]

Message = Mapping[str, object]

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_LARGEST = 2**53 - 1
_LARGEST_DIGITS = 16


def text(message: Message, name: str) -> str:
    """Return a text; empty where it is missing or null."""
    value = message.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnreadableMessageError(f"{name}: expected text")
    if _HALF_CHARACTER.search(value) is not None:
        raise UnreadableMessageError(f"{name}: expected Unicode, and half a character stands there")
    return value


def flag(message: Message, name: str) -> bool:
    """Return true or false; false where it is missing or null."""
    value = message.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise UnreadableMessageError(f"{name}: expected true or false")
    return value


def number(message: Message, name: str) -> int | None:
    """Return a whole number of at most 2**53 - 1, also one written as text; None where it is missing or null."""
    value = message.get(name)
    if value is None:
        return None
    if isinstance(value, str) and value.isdecimal() and len(value) <= _LARGEST_DIGITS:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
        raise UnreadableMessageError(f"{name}: expected a whole number")
    return value


def name_of(value: object, field: str) -> str:
    """Return what a channel, a speaker or a turn is called, by text or by a number; empty of null."""
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or (isinstance(value, int) and abs(value) > _LARGEST):
        raise UnreadableMessageError(f"{field}: expected text or a number")
    return str(value)


def objects(message: Message, name: str) -> list[Message]:
    """Return a list of objects; empty where it is missing or null."""
    value = message.get(name)
    if value is None:
        return []
    if not isinstance(value, list | tuple) or not all(isinstance(one, Mapping) for one in value):
        raise UnreadableMessageError(f"{name}: expected a list of objects")
    return list(value)


def written_list(message: Message, name: str) -> list[object]:
    """Return a list, also one that was written as text; empty where it is neither."""
    value = message.get(name)
    if isinstance(value, str):
        try:
            value = json_value(value)
        except UnheldJsonError as error:
            raise UnreadableMessageError(f"{name}: expected a list, not {error.msg}") from None
        except JSONDecodeError:
            return []
    return list(value) if isinstance(value, list) else []


def object_in_text(message: Message, name: str) -> Message:
    """Return the object that a text is, as some senders nest JSON; an object that stands there as it is."""
    value = message.get(name)
    try:
        value = json_value(value) if isinstance(value, str) else value
    except JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise UnreadableMessageError(f"{name}: expected JSON in a text")
    return value


def part(message: Message, name: str) -> Message:
    """Return an object; an empty one where it is missing or null."""
    value = message.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UnreadableMessageError(f"{name}: expected an object")
    return value


def object_or_empty(value: object) -> Message:
    """Return an object, or an empty one of anything else: for telling messages apart."""
    return value if isinstance(value, Mapping) else {}


def either(message: Message, *names: str) -> object:
    """Return the first of some fields that is there and not null: a field's names in several releases."""
    return next((message[name] for name in names if message.get(name) is not None), None)


def confidence(message: Message, name: str) -> float | None:
    """Return a confidence from 0 to 1, also one written as text; None where it is missing or on another scale."""
    value = message.get(name)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)
