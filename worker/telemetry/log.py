"""JSON lines on stdout, by structlog; the logger is passed around, and nothing is configured globally.

Our own lines go through ``log_fields``. Texts of libraries that use the standard ``logging`` are dropped: redis-py logs
commands with their arguments at its debug level. Of their lines only the logger's name and the level are written.
librdkafka's lines, which name brokers and topics, are written in full.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Hashable
from types import TracebackType
from typing import Protocol, TextIO, cast

import structlog

from caesura.worker.errors import CaesuraError
from caesura.worker.telemetry.log_fields import OWN_TEXT_LENGTH, EventName, withhold_unknown


class SaidLately:
    """Remembers when each thing was last said. within_s: how long that is lately; most: how many things are kept."""

    def __init__(self, *, within_s: float, most: int = 200) -> None:
        self._within_s = within_s
        self._most = most
        self._said_s: dict[Hashable, float] = {}

    def asked(self, what: Hashable, now_s: float) -> bool:
        """Tell whether ``what`` was said lately; where it was not, it counts as said now."""
        if 0 <= now_s - self._said_s.get(what, float("-inf")) < self._within_s:
            return True
        if len(self._said_s) >= self._most:
            self._said_s.clear()
        self._said_s[what] = now_s
        return False


ALIKE_S = 60.0
"""Of lines that are alike, one in so long a time is written."""

_KAFKA_LOGGER = "caesura.kafka"
_MAX_FRAMES = 12
_STATE_AND_COUNT = re.compile(r" \(after .*\)$")


class Log(Protocol):
    """A logger of ours: an event's name and its fields, which ``log_fields`` must know."""

    def info(self, event: EventName, **fields: object) -> None:
        """Say what is in order."""
        ...

    def warning(self, event: EventName, **fields: object) -> None:
        """Say what somebody should look at."""
        ...

    def error(self, event: EventName, **fields: object) -> None:
        """Say what somebody must look at."""
        ...

    def bind(self, **fields: object) -> Log:
        """Return a log whose every line carries these fields."""
        ...


def make_log(stream: TextIO, **fields: object) -> Log:
    """Return a log that writes to ``stream``; every line carries ``fields``, for example deployment and worker."""
    made = structlog.wrap_logger(
        structlog.PrintLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            withhold_unknown,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return cast("Log", made.bind(**fields))


def _json(line: object, **_: object) -> str:
    return json.dumps(line, ensure_ascii=False)


def failure_fields(error: BaseException) -> dict[str, object]:
    """Return an exception as fields: its kind, where it was raised, and its text only where it is one of ours."""
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    fields: dict[str, object] = {
        "error": type(error).__name__,
        "frames": [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames],
    }
    if isinstance(error, CaesuraError):
        fields["detail"] = str(error)[:OWN_TEXT_LENGTH]
    return fields


def forward_library_logs(log: Log, level: int = logging.WARNING) -> None:
    """Send what libraries log to ``log``, from ``level`` on; replaces the root logger's handlers."""
    root = logging.getLogger()
    root.handlers = [_Forward(log)]
    root.setLevel(level)


class _Forward(logging.Handler):
    """Of lines that are alike, one a minute: librdkafka repeats itself ten times a second while a broker is away."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log
        self._said = SaidLately(within_s=ALIKE_S)

    def emit(self, record: logging.LogRecord) -> None:
        say = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        if record.name != _KAFKA_LOGGER:
            if not self._said.asked((record.name, kind := _kind(record)), record.created):
                say("foreign_log", logger=record.name, error=kind)
        elif not self._said.asked(
            _STATE_AND_COUNT.sub("", text := record.getMessage()[:OWN_TEXT_LENGTH]), record.created
        ):
            # librdkafka asks a coordinator that is on its way again by itself: at each first start, for one.
            (self._log.info if text.endswith(": retrying") else say)("kafka_log", kafka=text)


def _kind(record: logging.LogRecord) -> str:
    kind = record.exc_info[0] if record.exc_info else None
    return kind.__name__ if kind is not None else record.levelname


def log_uncaught(log: Log) -> None:
    """Write uncaught exceptions to ``log`` instead of stderr, where Python would print their text."""

    def uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        del kind
        log.error("failed", **failure_fields(error.with_traceback(trace)))

    def uncaught_in_thread(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            log.error("failed", **failure_fields(arguments.exc_value))

    sys.excepthook = uncaught
    threading.excepthook = uncaught_in_thread
