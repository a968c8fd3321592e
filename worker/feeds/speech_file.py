"""A file of speech as timed word events: text, or word events as JSON lines. Pure but for reading the lines given.

Text: a line is a session, its words parted by white space, one event a word, evenly in time, ended at its last word.
JSON lines: a line is a word event as ``docs/produce.md`` describes it, with these liberties: ``version``, ``seq``,
``epoch`` and ``lang`` may be left out (numbered by session, in the file's order), ``words`` may be a string, and
``at_ms`` may say when the event is sent, from the file's start; else its last word's ``end_ms``, else evenly. A field
that no event has is a slip of the hand and refused, but in a line with a ``version``: that one was recorded.
"""

from __future__ import annotations

import difflib
import heapq
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from schemas.codec import decode_event, encode_event
from schemas.events import WordsEvent
from schemas.versions import EVENT_VERSION
from worker.errors import FatalError

__all__ = ["Pace", "TimedEvent", "ended", "events_of_json_lines", "events_of_text"]

_MS_A_MINUTE = 60_000
_FIELDS = (*WordsEvent.__struct_fields__, "at_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedEvent:
    """A word event and when to send it, in milliseconds from the start."""

    at_ms: int
    event: WordsEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How events without times are spread: words a minute and session; sessions of a text that run at once."""

    words_a_minute: int = 160
    sessions_at_once: int = 8

    def word_ms(self, words: int) -> int:
        """Return how long so many words take."""
        return words * _MS_A_MINUTE // self.words_a_minute


def events_of_text(lines: Iterable[str], *, prefix: str, lang: str, pace: Pace) -> Iterator[TimedEvent]:
    """Yield the events of a text, in the order of their times; a session begins where one before it has ended."""
    free_at_ms = [0] * pace.sessions_at_once
    waiting: list[tuple[int, int, int, TimedEvent]] = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        begin_ms = heapq.heappop(free_at_ms)
        for seq, word in enumerate(words):
            at_ms = begin_ms + pace.word_ms(seq + 1)
            event = _event(
                {"session": f"{prefix}{number}", "seq": seq, "lang": lang, "version": EVENT_VERSION, "words": word}
                | ({"session_end": True} if seq + 1 == len(words) else {}),
                where=f"line {number}",
            )
            heapq.heappush(waiting, (at_ms, number, seq, TimedEvent(at_ms=at_ms, event=event)))
        heapq.heappush(free_at_ms, begin_ms + pace.word_ms(len(words)))
        while waiting and waiting[0][0] < free_at_ms[0]:
            yield heapq.heappop(waiting)[3]
    while waiting:
        yield heapq.heappop(waiting)[3]


def events_of_json_lines(
    lines: Iterable[str], *, prefix: str, lang: str, epoch: int, pace: Pace
) -> Iterator[TimedEvent]:
    """Yield the events of JSON lines in the file's order, none before the one above it. FatalError names a line."""
    next_seq: dict[str, int] = {}
    clock_ms: dict[str, int] = {}
    latest_ms = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = _object(line, number)
        _refuse_slips(fields, where=f"line {number}")
        at_ms = fields.pop("at_ms", None)
        session = prefix + str(fields.get("session", "1"))
        fields = {"version": EVENT_VERSION, "lang": lang, "epoch": epoch, "seq": next_seq.get(session, 0)} | fields
        event = _event(fields | {"session": session}, where=f"line {number}")
        next_seq[session] = event.seq + 1
        if not isinstance(at_ms, int):
            ends = [word.end_ms for word in event.words if word.end_ms is not None]
            at_ms = max(ends) if ends else clock_ms.get(session, 0) + pace.word_ms(len(event.words))
        latest_ms = clock_ms[session] = max(latest_ms, at_ms)
        yield TimedEvent(at_ms=latest_ms, event=event)


def ended(events: Iterable[TimedEvent]) -> Iterator[TimedEvent]:
    """Yield the events again, each session's last one with ``session_end``; reads them all first."""
    order = list(events)
    last_of = {timed.event.session: timed for timed in order}
    for timed in order:
        last = last_of[timed.event.session] is timed
        yield replace(timed, event=msgspec.structs.replace(timed.event, session_end=True)) if last else timed


def _object(line: str, number: int) -> dict[str, object]:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise FatalError(f"line {number} is not JSON (column {error.colno})") from None
    if not isinstance(fields, dict):
        raise FatalError(f"line {number} is not a JSON object")
    return fields


def _refuse_slips(fields: dict[str, object], *, where: str) -> None:
    unknown = [] if "version" in fields else [name for name in fields if name not in _FIELDS]
    if unknown:
        close = difflib.get_close_matches(unknown[0], _FIELDS, n=1)
        meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(_FIELDS)}"
        raise FatalError(f"{where} has a field that no event has; {meant}")  # its name may be what somebody said


def _event(fields: dict[str, object], *, where: str) -> WordsEvent:
    words = fields.get("words", [])
    if isinstance(words, str):
        words = words.split()
    if isinstance(words, list):
        fields = fields | {"words": [{"text": word} if isinstance(word, str) else word for word in words]}
    try:
        return decode_event(encode_event(msgspec.convert(fields, WordsEvent)))
    except ValueError as error:
        raise FatalError(f"{where} is no word event: {error}") from None
