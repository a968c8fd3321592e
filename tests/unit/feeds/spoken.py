"""Messages of a recogniser through the whole feed, and what came out, by session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from caesura.schemas.codec import decode_event, encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName, recogniser_of
from caesura.worker.feeds.session_events import SessionEvents

Message = Mapping[str, object]


def fed(name: str, messages: Iterable[Message], *, agreement: int | None = None, end: bool = True) -> list[WordsEvent]:
    """Return the events of messages, each checked as a worker checks it; every recogniser's first message is known."""
    speech = RecognisedSpeech(
        RECOGNISERS[RecogniserName(name)].reader(), SessionEvents(session="s", lang="en", epoch=3), agreement=agreement
    )
    events = [event for message in messages for event in speech.take(message)]
    events += speech.finish(end=end)
    for event in events:
        assert decode_event(encode_event(event)) == event
    return events


def words(events: Iterable[WordsEvent], session: str = "s") -> list[Word]:
    return [word for event in events if event.session == session for word in event.words]


def texts(events: Iterable[WordsEvent], session: str = "s") -> list[str]:
    return [word.text for word in words(events, session)]


def timed(events: Iterable[WordsEvent], session: str = "s") -> list[tuple[str, int | None, int | None]]:
    return [(word.text, word.start_ms, word.end_ms) for word in words(events, session)]


def told_apart(name: str, messages: Iterable[Message]) -> bool:
    """Tell whether the first of the messages that anybody knows is known as this recogniser's."""
    return next((found for message in messages if (found := recogniser_of(message)) is not None), None) == name


def nested(depth: int) -> object:
    """Return a text in so many lists."""
    value: object = "secret"
    for _ in range(depth):
        value = [value]
    return value
