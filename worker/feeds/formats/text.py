"""Plain text: a line is a session, its words separated by white space, one event a word, ended at its last word."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from schemas.versions import EVENT_VERSION
from worker.feeds.timed_events import Pace, TimedEvent, word_event

__all__ = ["events_of_text"]


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
            event = word_event(
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
