"""Synthetic speech: sessions that say plain English sentences at an even pace, as a recogniser would send them."""

from __future__ import annotations

from schemas.codec import encode_event
from schemas.events import Word, WordsEvent
from schemas.versions import EVENT_VERSION

__all__ = ["EVENT_WORDS", "WORDS_A_SECOND", "LoadSpeaker"]

EVENT_WORDS = 2
WORDS_A_SECOND = 2.5

_TEXT = (
    "so the first thing we did was to ask everybody who had been there what they remembered and uh it turned out that "
    "nobody agreed on anything at all do you know how far it is from here it's only three and a half kilometres i mean "
    "miles so we could walk well the the second box was completely wet and the label had come off i called the depot "
    "twice but they never answered if you want we can meet again on thursday morning before the others arrive no that "
    "is too early for me could we say eleven the report says that most of the work was done by the end of march and i "
    "think we should uh we should thank the people who stayed late to finish it what happens when the power goes out"
)
_SAID = _TEXT.split()
_WORD_MS = round(1000 / WORDS_A_SECOND)


class LoadSpeaker:
    """One session's speech. place: where in the text it begins, so that sessions say different things."""

    def __init__(self, name: str, place: int) -> None:
        self.name = name
        self._place = place
        self._seq = 0
        self._words = 0

    def says(self, words: int = EVENT_WORDS) -> bytes:
        """Return the next event, as the bytes that a producer sends."""
        first, self._words = self._words, self._words + words
        spoken = tuple(
            Word(text=_SAID[(self._place + n) % len(_SAID)], start_ms=n * _WORD_MS, end_ms=(n + 1) * _WORD_MS)
            for n in range(first, self._words)
        )
        event = WordsEvent(
            version=EVENT_VERSION,
            session=self.name,
            seq=self._seq,
            lang="en",
            words=spoken,
            heard_until_ms=self._words * _WORD_MS,
        )
        self._seq += 1
        return encode_event(event)
