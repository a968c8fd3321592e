"""Plain text: a line is a session, its words separated by white space, one event a word, ended at its last word.

A speaker's label at a line's beginning, or on a line of its own, is not spoken: it stands behind the session's name.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from caesura.schemas.events import MAX_WORD_CHARACTERS
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.feeds.speaker_labels import SpeakerLabels
from caesura.worker.feeds.timed_events import Pace, TimedEvent, word_event


class SpokenLines:
    """Takes speakers' labels from lines as they go by. known: labels of all lines; None notes them as they come."""

    def __init__(self, known: SpeakerLabels | None = None) -> None:
        self._noting = known is None
        self._labels = known or SpeakerLabels()
        self._speaker = ""

    def take(self, line: str) -> tuple[str, str]:
        """Return who speaks a line, empty where no label says so, and the line without its label."""
        if self._noting:
            self._labels.add(line)
        found = self._labels.find(line.rstrip())
        if found is None:
            return self._speaker, line
        self._speaker = found.name
        return found.name, line[found.end :].lstrip(" \t") if found.labelled else line


def _places(word: str) -> range:
    """Return where the parts of a word begin: an address, say, is longer than an event's word may be."""
    return range(0, len(word), MAX_WORD_CHARACTERS)


def events_of_text(
    lines: Iterable[str],
    *,
    prefix: str,
    lang: str,
    pace: Pace,
    labels: SpeakerLabels | None = None,
    epoch: int = 0,
) -> Iterator[TimedEvent]:
    """Yield the events of a text, in the order of their times; a session begins where one before it has ended.

    labels: those of the whole text; None where its lines come live, and only those before tell which labels recur.
    """
    spoken = SpokenLines(labels)
    free_at_ms = [0] * pace.sessions_at_once
    waiting: list[tuple[int, int, int, TimedEvent]] = []
    for number, line in enumerate(lines, start=1):
        speaker, said = spoken.take(line)
        session = f"{prefix}{number}/{speaker}" if speaker else f"{prefix}{number}"
        words = [word[at : at + MAX_WORD_CHARACTERS] for word in said.split() for at in _places(word)]
        if not words:
            continue
        begin_ms = heapq.heappop(free_at_ms)
        for seq, word in enumerate(words):
            at_ms = begin_ms + pace.word_ms(seq + 1)
            event = word_event(
                {"session": session, "seq": seq, "lang": lang, "version": EVENT_VERSION, "words": word}
                | ({"speaker": speaker} if speaker else {})
                | ({"epoch": epoch} if epoch else {})
                | ({"session_end": True} if seq + 1 == len(words) else {}),
                where=f"line {number}",
            )
            heapq.heappush(waiting, (at_ms, number, seq, TimedEvent(at_ms=at_ms, event=event)))
        heapq.heappush(free_at_ms, begin_ms + pace.word_ms(len(words)))
        while waiting and waiting[0][0] < free_at_ms[0]:
            yield heapq.heappop(waiting)[3]
    while waiting:
        yield heapq.heappop(waiting)[3]
