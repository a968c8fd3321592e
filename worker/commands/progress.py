"""Shows the progress of a long command on stderr: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from caesura.schemas.events import WordsEvent
from caesura.worker.commands.language import LanguageOfText
from caesura.worker.commands.terminal import echo

_Item = TypeVar("_Item")
_EVERY_S = 5.0


def counted(items: Iterable[_Item], *, doing: str, total: int | None = None) -> Iterator[_Item]:
    """Yield the items and show how many have gone by."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            yield from progress.track(items, total=total, description=doing)
        return
    said_s = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        if time.monotonic() - said_s > _EVERY_S:
            said_s = time.monotonic()
            echo(f"{doing}: {number}{f' of {total}' if total else ''}", err=True)


def counted_noun(count: int, noun: str) -> str:
    """Return ``1 event``, ``2 events``."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


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
