"""What may stand in a log line: each field by name with the shape of its value. Anything else is withheld.

So promise 5 holds by construction: text gets into a line only through a field that is named here, and only where it
looks like a name of our own, not like something that was said. A withheld field is named in ``withheld``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from typing import Literal

__all__ = ["OWN_TEXT_LENGTH", "EventName", "withhold_unknown"]

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


_ALLOWED: Mapping[str, Callable[[object], bool]] = {
    "event": _name,
    "level": _name,
    "deployment": _name,
    "worker": _name,
    "logger": _name,
    "kind": _name,
    "outcome": _name,
    "reason": _name,
    "verdict": _name,
    "call": _name,
    "error": _name,
    "model": _name,
    "session": _session,
    "peer": _name,
    "partition": _number,
    "partitions": _number,
    "which": _numbers,
    "offset": _number,
    "sessions": _number,
    "segments": _number,
    "words": _number,
    "dead_letters": _number,
    "ledger_records": _number,
    "input_records": _number,
    "lost_sessions": _number,
    "lost_words": _number,
    "lost_records": _number,
    "lost_offsets": _numbers,
    "took_ms": _number,
    "step_ms": _counts,
    "dropped": _names_by_number,
    # Written by our own code alone: the text of a CaesuraError, readiness reasons, frames of a traceback, and what
    # librdkafka says of brokers and topics.
    "detail": _own_text,
    "reasons": _own_texts,
    "frames": _own_texts,
    "kafka": _own_text,
}


def withhold_unknown(_logger: object, _method: str, line: MutableMapping[str, object]) -> MutableMapping[str, object]:
    """Keep what is allowed; a structlog processor."""
    kept = {key: value for key, value in line.items() if key in _ALLOWED and _ALLOWED[key](value)}
    withheld = sorted(key if _name(key) else "unnamed" for key in line if key not in kept)
    return {**kept, "withheld": withheld} if withheld else kept
