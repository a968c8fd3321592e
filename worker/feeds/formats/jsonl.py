"""Word events as JSON lines, as ``docs/produce.md`` describes them. Pure but for reading the lines given.

With these liberties: ``version``, ``seq``, ``epoch`` and ``lang`` may be left out (numbered by session, in the file's
order), ``words`` may be a string, and ``at_ms`` may say when the event is sent, from the file's start; else its last
word's ``end_ms``, else evenly. A field that no event has is a slip of the hand and refused, but in a line with a
``version``: that one was recorded.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from json import JSONDecodeError

from caesura.schemas.events import WordsEvent
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.json_text import UnheldJsonError, is_cut_off, json_value
from caesura.worker.feeds.message_fields import name_of, number
from caesura.worker.feeds.refusal import BadLineError
from caesura.worker.feeds.timed_events import Pace, TimedEvent, word_event

_FIELDS = (*WordsEvent.__struct_fields__, "at_ms")


def events_of_json_lines(
    lines: Iterable[str], *, prefix: str, lang: str, epoch: int, pace: Pace
) -> Iterator[TimedEvent]:
    """Yield the events of JSON lines in the file's order, none before the one above it. BadLineError."""
    next_seq: dict[str, int] = {}
    clock_ms: dict[str, int] = {}
    latest_ms = 0
    for count, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"line {count}"
        fields = _object(line, where)
        _refuse_slips(fields, where=where)
        at_ms, name = _read(fields, where=where)
        session = prefix + name
        fields = {"version": EVENT_VERSION, "lang": lang, "epoch": epoch, "seq": next_seq.get(session, 0)} | fields
        event = word_event(fields | {"session": session}, where=where)
        next_seq[session] = event.seq + 1
        if at_ms is None:
            ends = [word.end_ms for word in event.words if word.end_ms is not None]
            at_ms = max(ends) if ends else clock_ms.get(session, 0) + pace.word_ms(len(event.words))
        latest_ms = clock_ms[session] = max(latest_ms, at_ms)
        yield TimedEvent(at_ms=latest_ms, event=event)


def _object(line: str, where: str) -> dict[str, object]:
    try:
        fields = json_value(line)
    except UnheldJsonError as error:
        raise BadLineError(f"{where}: expected JSON, not {error.msg}") from None
    except JSONDecodeError as error:
        spread = "; an event stands on one line" if line.strip() in ("{", "[") else ""
        spread = spread or ("; the line is cut off" if is_cut_off(line) else "")
        raise BadLineError(f"{where} is not JSON (column {error.colno}){spread}") from None
    if not isinstance(fields, dict):
        raise BadLineError(f"{where} is not a JSON object")
    return fields


def _read(fields: dict[str, object], *, where: str) -> tuple[int | None, str]:
    """Return when a line's event is sent, taken out of its fields, and its session without the prefix."""
    try:
        return number({"at_ms": fields.pop("at_ms", None)}, "at_ms"), name_of(fields.get("session", "1"), "session")
    except UnreadableMessageError as error:
        raise BadLineError(f"{where} is no word event: {error}") from None


def _refuse_slips(fields: dict[str, object], *, where: str) -> None:
    unknown = [] if "version" in fields else [name for name in fields if name not in _FIELDS]
    if unknown:
        close = difflib.get_close_matches(unknown[0], _FIELDS, n=1)
        meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(_FIELDS)}"
        raise BadLineError(f"{where} has a field that no event has; {meant}")  # its name may be what somebody said
