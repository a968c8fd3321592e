"""Counts the word events that a command sends, and says once where their script is not their language's."""

from __future__ import annotations

from caesura.schemas.events import WordsEvent
from caesura.worker.commands.language import LanguageOfText
from caesura.worker.commands.progress import counted_noun
from caesura.worker.commands.terminal import echo

__all__ = ["SpeechCount"]


class SpeechCount:
    """What went by. events, words: how many so far. sessions: their names, in order."""

    def __init__(self) -> None:
        self._languages: dict[str, LanguageOfText] = {}
        self.sessions: dict[str, None] = {}
        self.events = self.words = 0

    def take(self, event: WordsEvent) -> None:
        """Count an event; what is to be noticed of its script goes to stderr."""
        self.events += 1
        self.words += len(event.words)
        self.sessions.setdefault(event.session)
        language = self._languages.setdefault(event.lang, LanguageOfText(event.lang))
        if (told := language.notice(word.text for word in event.words)) is not None:
            echo(told, err=True)

    def told(self, count: int, noun: str) -> str:
        """Return the counts for people: of what came (``3 messages``), of words and of sessions."""
        parts = ((count, noun), (self.words, "word"), (len(self.sessions), "session"))
        return ", ".join(counted_noun(number, name) for number, name in parts)
