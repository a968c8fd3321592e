"""One speaker's stream in a model: words in, in any number, segments out."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from caesura.schemas.events import Emission, SessionOptions, Word, WordsEvent
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION
from caesura.segments import Segment, Unfrozen
from caesura.worker.errors import ArgumentError

__all__ = ["Said", "Session", "SessionModel", "Spoken", "options_of", "words_of"]

Spoken = str | Iterable[str | Word]
"""What may be fed: a text, its words separated by white space; or words, with their times or without."""


class SessionModel(Protocol):
    """What a session asks of its model."""

    def decode(self, said: Sequence[Said]) -> dict[str, list[Segment]]:
        """Decode what was said in sessions, in one batch; return what froze, by session."""
        ...

    def look(self, session: str) -> Tentative | None:
        """Return a session's unfrozen words."""
        ...

    def let_go(self, session: str) -> None:
        """Take note, at any moment and without waiting, that nobody holds a session any more."""
        ...


def words_of(spoken: Spoken) -> tuple[Word, ...]:
    """Return words. ArgumentError where one is none: without a text, with white space, with impossible times."""
    given: object = spoken
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise ArgumentError(f"a text or words are wanted, not {type(given).__name__}")
    texts = spoken.split() if isinstance(spoken, str) else spoken
    words = tuple(Word(text=one) if isinstance(one, str) else one for one in texts)
    for place, word in enumerate(words):
        if not isinstance(word, Word):
            raise ArgumentError(f"word {place}: a str or a caesura.Word is wanted, not {type(word).__name__}")
        if (wrong := _wrong_in(word)) is not None:
            raise ArgumentError(f"word {place}: {wrong}")
    return words


def _wrong_in(word: Word) -> str | None:
    """Return what no word may be; None where there is nothing. How long a text may be is for the worker to bound."""
    if not word.text:
        return "a word is not empty"
    if word.text.split() != [word.text]:
        return "a word holds no white space; give a text, or a list of words"
    start_ms, end_ms = word.start_ms or 0, word.end_ms
    if start_ms < 0 or (end_ms is not None and end_ms < start_ms):
        return "its times run from 0, and it does not end before it begins"
    if word.confidence is not None and not 0 <= word.confidence <= 1:
        return "its confidence is 0 to 1"
    return None


class Session:
    """A session; ``Model.session`` makes it. Time does not pass here: a pause is the caller's to notice.

    One that is dropped without its end goes from the model, with its unfrozen words.
    """

    def __init__(self, model: SessionModel, name: str, lang: str, options: SessionOptions) -> None:
        self.name = name
        self.lang = lang
        self._model = model
        self._options = options
        self._seq = 0
        self._ended = False
        weakref.finalize(self, model.let_go, name).atexit = False

    def __repr__(self) -> str:
        """Return its name, its language and whether it has ended."""
        return f"<caesura.Session {self.name} {self.lang}{', ended' if self._ended else ''}>"

    def feed(self, words: Spoken) -> list[Segment]:
        """Add words, in any number, and return what froze. ArgumentError after ``end``."""
        return self._decode(self.says(words))

    def pause(self) -> list[Segment]:
        """Freeze all that is there: the speaker paused. What follows still sees it as context."""
        return self._decode(Said(session=self, utterance_end=True))

    def end(self) -> list[Segment]:
        """Freeze all that is there, and end. The last segment may be without words."""
        return self._decode(Said(session=self, session_end=True))

    @property
    def unfrozen(self) -> Unfrozen | None:
        """The words that are not frozen, with their labels of now; None before the first word and after the end."""
        tentative = self._model.look(self.name)
        return None if tentative is None else Unfrozen(tentative)

    def says(self, words: Spoken) -> Said:
        """Return words as what is said in this session next. ArgumentError after ``end``, and for what are no words."""
        self.refuse_ended()
        return Said(session=self, words=words_of(words))

    def refuse_ended(self) -> None:
        """ArgumentError where the session has ended."""
        if self._ended:
            raise ArgumentError(f"session {self.name} has ended")

    def next_event(self, said: Said) -> WordsEvent:
        """Return what is said as the session's next event, and count it. Its model's lock is held."""
        event = WordsEvent(
            version=EVENT_VERSION,
            session=self.name,
            seq=self._seq,
            lang=self.lang,
            words=said.words,
            utterance_end=said.utterance_end,
            session_end=said.session_end,
            options=None if self._seq else self._options,
        )
        self._seq += 1
        return event

    def done(self, said: Said) -> None:
        """Take note that what is said is decoded: what was interrupted may be said again. Its model's lock is held."""
        self._ended = self._ended or said.session_end

    def _decode(self, said: Said) -> list[Segment]:
        return self._model.decode([said]).get(self.name, [])


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is said in a session, not numbered yet: words, the utterance's end, or the session's."""

    session: Session
    words: tuple[Word, ...] = ()
    utterance_end: bool = False
    session_end: bool = False


def options_of(given: dict[str, object]) -> SessionOptions:
    """Return a session's options. ArgumentError naming one that there is not, or a value that does not fit."""
    unknown = set(given) - set(SessionOptions.__struct_fields__)
    if unknown:
        there_are = ", ".join(SessionOptions.__struct_fields__)
        raise ArgumentError(f"there is no option {', '.join(sorted(unknown))}; there are {there_are}")
    try:
        return msgspec.convert(given, SessionOptions)
    except msgspec.ValidationError as error:
        why, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`").partition("[")[0]
        choices = f"; there are {', '.join(Emission)}" if name == "emission" else ""
        raise ArgumentError(f"option {name} is {given[name]!r}: {why}{choices}") from None
