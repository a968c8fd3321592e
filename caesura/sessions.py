"""One speaker's stream in a model: words in, in any number, segments out."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from caesura.segments import Segment, Unfrozen
from schemas.events import Emission, SessionOptions, Word, WordsEvent
from schemas.tentative import Tentative
from schemas.versions import EVENT_VERSION

__all__ = ["Session", "SessionModel", "Spoken", "words_of"]

Spoken = str | Iterable[str | Word]
"""What may be fed: a text, its words separated by white space; or words, with their times or without."""


class SessionModel(Protocol):
    """What a session asks of its model."""

    def decode(self, events: Sequence[WordsEvent]) -> dict[str, list[Segment]]:
        """Decode events of sessions, in one batch; return what froze, by session."""
        ...

    def look(self, session: str) -> Tentative | None:
        """Return a session's unfrozen words."""
        ...

    def let_go(self, session: str) -> None:
        """Take note, at any moment and without waiting, that nobody holds a session any more."""
        ...


def words_of(spoken: Spoken) -> tuple[Word, ...]:
    """Return words. ValueError where one holds white space or nothing, or is no word at all."""
    given: object = spoken
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise ValueError(f"a text or words are wanted, not {type(given).__name__}")  # noqa: TRY004 - one error for all
    texts = spoken.split() if isinstance(spoken, str) else spoken
    words = tuple(Word(text=one) if isinstance(one, str) else one for one in texts)
    for place, word in enumerate(words):
        if not isinstance(word, Word):
            raise ValueError(f"word {place}: a str or a caesura.Word is wanted, not {type(word).__name__}")  # noqa: TRY004
        if word.text.split() != [word.text]:
            raise ValueError(f"word {place}: a word holds no white space; give a text, or a list of words")
    return words


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

    def feed(self, words: Spoken) -> list[Segment]:
        """Add words, in any number, and return what froze. ValueError after ``end``."""
        return self._decode(self.event(words))

    def pause(self) -> list[Segment]:
        """Freeze all that is there: the speaker paused. What follows still sees it as context."""
        return self._decode(self.event((), utterance_end=True))

    def end(self) -> list[Segment]:
        """Freeze all that is there, and end. The last segment may be without words."""
        return self._decode(self.event((), session_end=True))

    @property
    def unfrozen(self) -> Unfrozen | None:
        """The words that are not frozen, with their labels of now; None before the first word and after the end."""
        tentative = self._model.look(self.name)
        return None if tentative is None else Unfrozen(tentative)

    def event(self, words: Spoken, *, utterance_end: bool = False, session_end: bool = False) -> WordsEvent:
        """Return the session's next event, and count it. ValueError after ``end``."""
        if self._ended:
            raise ValueError(f"session {self.name} has ended")
        event = WordsEvent(
            version=EVENT_VERSION,
            session=self.name,
            seq=self._seq,
            lang=self.lang,
            words=words_of(words),
            utterance_end=utterance_end,
            session_end=session_end,
            options=None if self._seq else self._options,
        )
        self._seq += 1
        self._ended = session_end
        return event

    def _decode(self, event: WordsEvent) -> list[Segment]:
        return self._model.decode([event]).get(self.name, [])


def options_of(given: dict[str, object]) -> SessionOptions:
    """Return a session's options. ValueError naming one that there is not, or a value that does not fit."""
    unknown = set(given) - set(SessionOptions.__struct_fields__)
    if unknown:
        there_are = ", ".join(SessionOptions.__struct_fields__)
        raise ValueError(f"there is no option {', '.join(sorted(unknown))}; there are {there_are}")
    try:
        return msgspec.convert(given, SessionOptions)
    except msgspec.ValidationError as error:
        why, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`").partition("[")[0]
        choices = f"; there are {', '.join(Emission)}" if name == "emission" else ""
        raise ValueError(f"option {name} is {given[name]!r}: {why}{choices}") from None
