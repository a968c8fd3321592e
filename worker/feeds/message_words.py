"""Reads the words of a recogniser's message by field names, and words of a text without times of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from caesura.worker.feeds.hypothesis import HeardWord
from caesura.worker.feeds.message_fields import Message, confidence, name_of, text
from caesura.worker.feeds.spoken_text import spoken_text, spoken_words
from caesura.worker.feeds.times import seconds_ms, spread
from caesura.worker.feeds.written_words import unmarked, words_of, written_units


@dataclass(frozen=True, slots=True, kw_only=True)
class WordFields:
    """What a recogniser calls the fields of a word. ms: its unit of time. duration: what it has instead of an end."""

    text: str = "text"
    start: str = "start"
    end: str = "end"
    duration: str = ""
    ms: Callable[[object], int | None] = seconds_ms
    confidence: str = "confidence"
    speaker: str = "speaker"

    def read(self, word: Message) -> HeardWord:
        """Return a word as it is written. Raises UnreadableMessageError."""
        start_ms, end_ms = self.ms(word.get(self.start)), self.ms(word.get(self.duration or self.end))
        if self.duration:
            end_ms = None if start_ms is None or end_ms is None else start_ms + end_ms
        return HeardWord(
            text=text(word, self.text),
            start_ms=start_ms,
            end_ms=end_ms,
            confidence=confidence(word, self.confidence),
            speaker=name_of(word.get(self.speaker), self.speaker),
        )

    def bare(self, words: Iterable[Message]) -> tuple[HeardWord, ...]:
        """Return the words that are spoken, without the marks around them. Raises UnreadableMessageError."""
        return bare_words(spoken_words(tuple(map(self.read, words))))


def bare_words(words: Iterable[HeardWord]) -> tuple[HeardWord, ...]:
    """Return the words without the marks around them; a mark alone is dropped."""
    bare = (replace(word, text=unmarked(word.text)) for word in words)
    return tuple(word for word in bare if word.text)


def spread_text(
    written: str, start_ms: int | None = None, end_ms: int | None = None, *, speaker: str = ""
) -> tuple[HeardWord, ...]:
    """Return what of a text is spoken, its words without marks and spread over a time."""
    spoken = [unit for word in words_of(spoken_text(written)) for unit in written_units(word)]
    words = spread(spoken, start_ms, end_ms)
    return tuple(replace(word, speaker=speaker) for word in words) if speaker else words
