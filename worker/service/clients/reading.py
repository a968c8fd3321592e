"""From a client's frames to an opening and word events. What cannot be read is refused by name, never guessed."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from caesura.schemas.codec import decode_event
from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.schemas.events import MAX_EVENT_WORDS, Emission, WordsEvent
from caesura.schemas.json_structure import decode_json
from caesura.schemas.structure import check_structure
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.errors import FatalError
from caesura.worker.feeds.hypothesis import MAX_MESSAGE_WORDS, MAX_TEXT_CHARACTERS, UnreadableMessageError
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName
from caesura.worker.feeds.session_events import SessionEvents
from caesura.worker.service.clients.client_event import ClientEvent
from caesura.worker.service.server.messages import Opening, RefusalReason, ServeReason

_EVENT_FIELDS = WordsEvent.__struct_fields__
_OPENING_FIELDS = Opening.__struct_fields__
_LONGEST_OPENING = 16_384
"""It is read before the client has shown a token."""

_LONGEST_SLIP = 64
"""A field's name of more characters is no slip of a pen: what it is like is not looked for."""

ReaderFailed = Callable[[RecogniserName, Exception], None]
"""Is told of a recogniser's reader that raised what no reader should."""


class RefusedMessageError(ValueError):
    """A message that is not taken. detail names the field and what was expected there, never what was said."""

    def __init__(self, reason: ServeReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def read_opening(frame: str | bytes) -> Opening:
    """Read a client's first message. RefusedMessageError."""
    if len(frame) > _LONGEST_OPENING:
        detail = f"the opening: expected at most {_LONGEST_OPENING} characters"
        raise RefusedMessageError(RefusalReason.BAD_OPENING, detail)
    fields = _fields(frame)
    if "words" in fields:
        detail = 'the first message opens the connection, such as {"lang": "en"}; words come after it'
        raise RefusedMessageError(RefusalReason.OPENING_EXPECTED, detail)
    _refuse_slips(fields, _OPENING_FIELDS, "an opening")
    try:
        return msgspec.convert(fields, Opening)
    except msgspec.ValidationError as error:
        place, expected = _place_and_expectation(error)
        raise RefusedMessageError(RefusalReason.BAD_OPENING, f"{place}: {expected}") from None


class FrameReader(Protocol):
    """Reads what a client sends after its opening."""

    def read(self, frame: str | bytes) -> Iterator[ClientEvent]:
        """Yield the events of a frame, then RefusedMessageError if there is something in it that cannot be taken."""
        ...

    def finish(self) -> Iterator[ClientEvent]:
        """Yield what is kept of the frames so far, as ``read`` does: no other comes."""
        ...

    def ended(self, session: str) -> None:
        """Take note that a session is over: its name begins anew."""
        ...

    def refused(self, said: ClientEvent) -> None:
        """Take note that an event was not taken, nor any later one of its message and session: they may come again."""
        ...


def frame_reader(opening: Opening, failed: ReaderFailed, *, max_sessions: int = 16) -> FrameReader:
    """Return the reader of the format that an opening asks for. max_sessions: open at once."""
    if opening.format is None:
        return EventReader(opening=opening)
    return RecogniserReader(opening=opening, recogniser=opening.format, failed=failed, max_sessions=max_sessions)


def too_many_sessions(max_sessions: int) -> str:
    """Return what is told of a session for which a connection has no room."""
    return f"session: expected at most {max_sessions} open ones a connection"


@dataclass(slots=True, kw_only=True)
class RecogniserReader:
    """Reads the messages of a recogniser, as they are, into words that are never revised (``feeds``).

    ``{"session_end": true}`` ends it, with what is still open, and so does a recogniser that says that it has stopped;
    the next message begins anew. The feed does not number
    its events: a name may be free again, or have been refused, and the feed knows nothing of that. No event is made of
    a session for which there is no room (``max_sessions`` open at once), nor of a message of too many words.
    """

    opening: Opening
    recogniser: RecogniserName
    failed: ReaderFailed
    max_sessions: int = 16
    _speech: RecognisedSpeech | None = None
    _events: SessionEvents | None = None
    _refused: RefusedMessageError | None = None
    _open: set[str] = field(default_factory=set)

    def read(self, frame: str | bytes) -> Iterator[ClientEvent]:
        """Yield the events of a message, perhaps none. RefusedMessageError, whatever the reader raises."""
        fields = _fields(frame)
        if len(frame) > MAX_TEXT_CHARACTERS:
            _refuse_long_texts(fields)
        ends = fields.keys() == {"session_end"}
        if not ends:
            yield from self._told(self._heard(fields))
            ends = self._speech is not None and self._speech.has_stopped
        if ends:
            events = self._heard(None)
            yield from self._told(events if self._open else _or_else(events, self._numbered().end_unheard))

    def finish(self) -> Iterator[ClientEvent]:
        """Yield what its recogniser never ended, and the sessions' ends."""
        if self._speech is not None:
            yield from self._told(self._heard(None))

    def ended(self, session: str) -> None:
        """Take note that a session is over: its name begins anew."""
        self._open.discard(session)
        self._forget(session)

    def refused(self, said: ClientEvent) -> None:
        """Do nothing: its events have no numbers of their own."""

    def _forget(self, session: str) -> None:
        if self._events is not None:
            self._events.forget(session)

    def _told(self, events: Iterator[WordsEvent]) -> Iterator[ClientEvent]:
        self._refused = None
        for event in events:
            if event.words or event.session_end or event.session in self._open:  # else it would open an empty session
                self._open.add(event.session)
                yield ClientEvent(event=event)
            else:
                self._forget(event.session)
        if self._refused is not None:
            raise self._refused

    def _numbered(self) -> SessionEvents:
        return SessionEvents(
            session=self.opening.session, lang=self.opening.lang, refused=self._refuse, admits=self._admits
        )

    def _refuse(self, error: UnreadableMessageError) -> None:
        self._refused = self._refused or RefusedMessageError(DeadLetterReason.MALFORMED, str(error))

    def _admits(self, session: str) -> bool:
        """Tell whether a session is open, or there is room for it."""
        if session in self._open or len(self._open) < self.max_sessions:
            return True
        detail = too_many_sessions(self.max_sessions)
        self._refused = self._refused or RefusedMessageError(DeadLetterReason.TOO_MANY_SESSIONS, detail)
        return False

    def _heard(self, fields: dict[str, object] | None) -> Iterator[WordsEvent]:
        """Yield the events of a message; None: it ends what the messages before it began."""
        if self._speech is None:
            self._events = self._numbered()
            self._speech = RecognisedSpeech(
                RECOGNISERS[self.recogniser].reader(), self._events, most_words=MAX_MESSAGE_WORDS
            )
        speech = self._speech
        if fields is None:
            self._speech = None
        try:
            yield from speech.last_events(end=True) if fields is None else speech.events(fields)
        except FatalError as error:
            raise RefusedMessageError(DeadLetterReason.MALFORMED, str(error)) from None
        except Exception as error:  # noqa: BLE001 - a message that breaks its reader is refused like any other
            self.failed(self.recogniser, error)
            detail = f"the message: expected one of {self.recogniser.value}'s, and it cannot be read"
            raise RefusedMessageError(DeadLetterReason.MALFORMED, detail) from None


def _or_else(events: Iterator[WordsEvent], others: Callable[[], Iterator[WordsEvent]]) -> Iterator[WordsEvent]:
    """Yield events; others where there are none."""
    first = next(events, None)
    if first is None:
        yield from others()
    else:
        yield first
        yield from events


@dataclass(slots=True, kw_only=True)
class EventReader:
    """Reads the word events of one connection.

    An event is what ``docs/produce.md`` describes. It may leave out ``version``, ``session``, ``lang``, ``options``
    (the opening's hold) and ``seq`` (it goes behind the session's last event); its words may be a list of texts, or one
    text separated by white space. A field that no event has is a slip and refused, unless there is a ``version``: that
    one was recorded.
    """

    opening: Opening

    def read(self, frame: str | bytes) -> Iterator[ClientEvent]:
        """Yield the event. RefusedMessageError."""
        fields = _fields(frame)
        if "version" not in fields:
            _refuse_slips(fields, _EVENT_FIELDS, "an event")
        known = {"version": EVENT_VERSION, "session": self.opening.session, "lang": self.opening.lang, "seq": 0}
        event = _event(known | fields | {"words": _words(fields.get("words", []))})
        yield ClientEvent(event=event, numbered="seq" in fields)

    def finish(self) -> Iterator[ClientEvent]:
        """Yield nothing: each frame is an event."""
        return iter(())

    def ended(self, session: str) -> None:
        """Do nothing: a frame says by itself whose it is."""

    def refused(self, said: ClientEvent) -> None:
        """Do nothing: the pool knows which numbers a session took."""


def _refuse_long_texts(value: object) -> None:
    """RefusedMessageError where a text of a message is longer than any is; its nesting is bounded already."""
    if isinstance(value, str) and len(value) > MAX_TEXT_CHARACTERS:
        detail = f"the message: expected texts of at most {MAX_TEXT_CHARACTERS} characters"
        raise RefusedMessageError(DeadLetterReason.OVERSIZED, detail)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            if isinstance(part, str | dict | list):
                _refuse_long_texts(part)


def _fields(frame: str | bytes) -> dict[str, object]:
    try:
        if isinstance(frame, bytes):
            check_structure(frame)
            fields = msgspec.msgpack.decode(frame)
        else:
            fields = decode_json(frame)
    except InvalidEventError as error:
        raise RefusedMessageError(error.reason, error.detail.replace("the event:", "the message:", 1)) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise RefusedMessageError(
            DeadLetterReason.MALFORMED, "the message: expected MessagePack in a binary frame"
        ) from None
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        raise RefusedMessageError(
            DeadLetterReason.MALFORMED, "the message: expected an object with names for its fields"
        )
    return fields


def _words(words: object) -> object:
    if isinstance(words, str):
        words = words.split(maxsplit=MAX_EVENT_WORDS)  # of more there is one too many, which is refused
    return [{"text": word} if isinstance(word, str) else word for word in words] if isinstance(words, list) else words


def _event(fields: dict[str, object]) -> WordsEvent:
    try:
        return decode_event(msgspec.msgpack.encode(fields))
    except InvalidEventError as error:
        raise RefusedMessageError(error.reason, error.detail) from None
    except NewerVersionError as error:
        raise RefusedMessageError(DeadLetterReason.UNKNOWN_VERSION, str(error)) from None
    except (TypeError, ValueError, OverflowError, RecursionError):  # what MessagePack has no form for
        detail = "the message: a number or text that no event can hold"
        raise RefusedMessageError(DeadLetterReason.OUT_OF_RANGE, detail) from None


def _refuse_slips(fields: dict[str, object], known: tuple[str, ...], what: str) -> None:
    for name in fields:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1) if len(name) <= _LONGEST_SLIP else []
            meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            raise RefusedMessageError(RefusalReason.UNKNOWN_FIELD, f"a field that {what} does not have; {meant}")


def _place_and_expectation(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return a message of msgspec's as place and expectation, without the value that was found."""
    told, at, place = str(error).partition(" - at `$.")
    expected = told.partition(", got")[0].replace("`", "")
    if expected.startswith("Invalid enum value"):
        names = ", ".join(Emission) if "emission" in place else "the names that docs/serve.md lists"
        expected = f"Expected one of {names}"
    return place.rstrip("`") if at else "the opening", expected[:1].lower() + expected[1:]
