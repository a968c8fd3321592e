"""Word events with the times at which to send them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from caesura.schemas.events import MAX_WORD_CHARACTERS, WordsEvent
from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.refusal import BadLineError, event_as_read, why_refused

_MS_A_MINUTE = 60_000


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


def timed(events: Iterable[WordsEvent], pace: Pace) -> Iterator[TimedEvent]:
    """Yield events at the end of their last word, else when their audio was heard, else evenly; never back.

    UnreadableMessageError where one is none that a worker would take.
    """
    latest_ms = 0
    for event in events:
        if (why := why_refused(event)) is not None:
            raise UnreadableMessageError(f"what was read is no word event: {why}")
        ends = [end for word in event.words if (end := word.end_ms) is not None]
        heard = [event.heard_until_ms] if event.heard_until_ms is not None else []
        latest_ms = max([latest_ms, *(ends or heard or [latest_ms + pace.word_ms(len(event.words))])])
        yield TimedEvent(at_ms=latest_ms, event=event)


def ended(events: Iterable[TimedEvent]) -> Iterator[TimedEvent]:
    """Yield the events again, each session's last one with ``session_end``; reads them all first."""
    order = list(events)
    last_of = {timed.event.session: timed for timed in order}
    for one in order:
        last = last_of[one.event.session] is one
        yield replace(one, event=msgspec.structs.replace(one.event, session_end=True)) if last else one


def routed(events: Iterable[TimedEvent], targets: tuple[str, ...]) -> Iterator[TimedEvent]:
    """Yield the events again, each session's first one with these translation routes where it names none itself."""
    begun: set[str] = set()
    for one in events:
        first = one.event.session not in begun
        begun.add(one.event.session)
        bare = first and one.event.targets is None
        yield replace(one, event=msgspec.structs.replace(one.event, targets=targets)) if bare else one


def word_event(fields: dict[str, object], *, where: str) -> WordsEvent:
    """Return the event that fields make; ``words`` may be a string or hold strings. BadLineError naming ``where``."""
    words = fields.get("words", [])
    if isinstance(words, str):
        words = words.split()
    if isinstance(words, list):
        fields = fields | {"words": [{"text": word} if isinstance(word, str) else word for word in words]}
    try:
        return event_as_read(fields)
    except ValueError as error:
        raise BadLineError(f"{where} is no word event: {_too_long(fields.get('words')) or error}") from None


def _too_long(words: object) -> str | None:
    """Return which word is longer than one may be, and how long that is; None where none is."""
    texts = [word.get("text") if isinstance(word, dict) else None for word in words] if isinstance(words, list) else []
    for position, text in enumerate(texts):
        if isinstance(text, str) and len(text) > MAX_WORD_CHARACTERS:
            return f"oversized: words[{position}].text: expected at most {MAX_WORD_CHARACTERS} characters"
    return None
