"""Makes every librdkafka client, so that no error message quotes a secret.

librdkafka quotes a value that it cannot use, and may cut its text off inside it. Values of ``kafka.extra`` may be
secrets: if such a message has a part of one, the message names the option instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

from caesura.worker.adapters.kafka.errors import error_of
from caesura.worker.adapters.kafka.reserved_options import RESERVED_OPTIONS

_Client = TypeVar("_Client")
_WORD = re.compile(r"\w+")
_NO_SECRET = re.compile(r"-?\d+|true|false", re.IGNORECASE)


def new_client(kind: Callable[[dict[str, Any]], _Client], options: Mapping[str, object]) -> _Client:
    """Make a client of these options. KafkaException where librdkafka refuses one, without its value."""
    try:
        return kind(dict(options))
    except KafkaException as exception:
        error = error_of(exception)
    raise KafkaException(KafkaError(error.code(), _without_values(error.str(), options)))  # and without the first one


def _without_values(text: str, options: Mapping[str, object]) -> str:
    """Return the text, or where a value of ``kafka.extra`` stands in it, only which option that is."""
    rest = text
    for name in options:
        rest = rest.replace(f'"{name}"', "").replace(f"`{name}`", "")
    extra = {name: value for name, value in options.items() if name not in RESERVED_OPTIONS}
    quoted = [name for name, value in extra.items() if isinstance(value, str) and _quotes(rest, value)]
    if not quoted:
        return text
    told = ", ".join([name for name in extra if f'"{name}"' in text] or quoted)
    return f"librdkafka cannot use {told} of kafka.extra; its reason quotes the value, so it is not shown"


def _quotes(text: str, value: str) -> bool:
    said = _WORD.findall(text)
    if not said or _NO_SECRET.fullmatch(value.strip()):
        return False
    return any(word in said or word.startswith(said[-1]) for word in _WORD.findall(value))  # the last may be cut off
