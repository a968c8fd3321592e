"""Readers of the fields of a recogniser's message. Errors name a wrong field and never quote its value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import JSONDecodeError

from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.json_text import UnheldJsonError, json_value
from caesura.worker.whole_numbers import whole_number

Message = Mapping[str, object]

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_LARGEST = 2**53 - 1


def text(message: Message, name: str) -> str:
    """Return a text; empty if it is missing or null."""
    value = message.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnreadableMessageError(f"{name}: expected text")
    if _HALF_CHARACTER.search(value) is not None:
        raise UnreadableMessageError(f"{name}: expected Unicode, got half a character")
    return value


def flag(message: Message, name: str) -> bool:
    """Return true or false; false if it is missing or null."""
    value = message.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise UnreadableMessageError(f"{name}: expected true or false")
    return value


def number(message: Message, name: str) -> int | None:
    """Return a whole number of at most 2**53 - 1, also one written as text; None if it is missing or null."""
    value = message.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        value = whole_number(value, _LARGEST)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
        raise UnreadableMessageError(f"{name}: expected a whole number")
    return value


def name_of(value: object, field: str) -> str:
    """Return the name of a channel, speaker or turn from a text or a number; empty if null."""
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or (isinstance(value, int) and abs(value) > _LARGEST):
        raise UnreadableMessageError(f"{field}: expected text or a number")
    return str(value)


def objects(message: Message, name: str) -> list[Message]:
    """Return a list of objects; empty if it is missing or null."""
    value = message.get(name)
    if value is None:
        return []
    if not isinstance(value, list | tuple) or not all(isinstance(one, Mapping) for one in value):
        raise UnreadableMessageError(f"{name}: expected a list of objects")
    return list(value)


def written_list(message: Message, name: str) -> list[object]:
    """Return a list, also one that is written as JSON in a text; otherwise an empty list."""
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
    """Return an object, also one that is written as JSON in a text."""
    value = message.get(name)
    try:
        value = json_value(value) if isinstance(value, str) else value
    except JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise UnreadableMessageError(f"{name}: expected JSON in a text")
    return value


def part(message: Message, name: str) -> Message:
    """Return an object; an empty one if it is missing or null."""
    value = message.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UnreadableMessageError(f"{name}: expected an object")
    return value


def object_or_empty(value: object) -> Message:
    """Return the value if it is an object, otherwise an empty one; for recognising messages."""
    return value if isinstance(value, Mapping) else {}


def either(message: Message, *names: str) -> object:
    """Return the first of these fields that is not null, for a field whose name differs between releases."""
    return next((message[name] for name in names if message.get(name) is not None), None)


def confidence(message: Message, name: str) -> float | None:
    """Return a confidence from 0 to 1, also one written as text; None if it is missing or on another scale."""
    value = message.get(name)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)
