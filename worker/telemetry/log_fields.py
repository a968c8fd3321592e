"""The fields that a log line may have, each with the shape of its value. All else is withheld.

So promise 5 holds by construction: text enters a line only through a field that is listed here, and only if it looks
like a name of our own and not like speech. ``withheld`` names the fields that were dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from typing import Literal

EventName = Literal[
    "caught_up",
    "checkpoint",
    "claimed",
    "claim_waits",
    "dead_letter",
    "engine_failed",
    "failed",
    "fault",
    "foreign_log",
    "kafka_log",
    "model_accuracy_warning",
    "not_ready",
    "parked",
    "producer_rebuilt",
    "ready",
    "rebalance",
    "rebuilt",
    "session_floods",
    "started",
    "stopped",
    "took_over",
]
"""The events that there are; one line each, the canonical ones (checkpoint, rebalance, dead_letter) among them."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@/+-]{0,248}")
OWN_TEXT_LENGTH = 1000
_SESSION_BYTES = 128


def _number(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _session(value: object) -> bool:
    return isinstance(value, str) and len(value.encode()) <= _SESSION_BYTES


def _own_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= OWN_TEXT_LENGTH


def _numbers(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_number(item) for item in value)


def _own_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_own_text(item) for item in value)


def _counts(value: object) -> bool:
    return isinstance(value, Mapping) and all(_name(str(key)) and _number(item) for key, item in value.items())


def _names_by_number(value: object) -> bool:
    return isinstance(value, Mapping) and all(_number(key) and _name(item) for key, item in value.items())


_SHAPES: tuple[tuple[Callable[[object], bool], str], ...] = (
    (_name, "event level deployment worker logger kind outcome reason verdict call error model peer"),
    (_session, "session"),
    (_number, "partition partitions offset sessions segments words dead_letters ledger_records input_records took_ms"),
    (_number, "lost_sessions lost_words lost_records"),
    (_numbers, "which lost_offsets"),
    (_counts, "step_ms"),
    (_names_by_number, "dropped"),
    # Written by our own code alone: the text of a CaesuraError, readiness reasons, frames of a traceback, and what
    # librdkafka says of brokers and topics.
    (_own_text, "detail kafka"),
    (_own_texts, "reasons frames"),
)
_ALLOWED = {name: fits for fits, names in _SHAPES for name in names.split()}


def withhold_unknown(_logger: object, _method: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
    """Keep what is allowed; a structlog processor."""
    kept = {key: value for key, value in line.items() if key in _ALLOWED and _ALLOWED[key](value)}
    withheld = sorted(key if _name(key) else "unnamed" for key in line if key not in kept)
    return {**kept, "withheld": withheld} if withheld else kept
