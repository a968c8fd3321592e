"""Good sessions, which must come out of a fuzzed run as if they had been alone."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from caesura.schemas.events import Emission, WordsEvent
from tests.harness.speech import speech

__all__ = ["GoodSessions"]

_AT_ONCE = 40
_WORDS = 120


@dataclass(slots=True)
class GoodSessions:
    """Good speakers, so many at a time; ``past`` are events said already, a repeat of which changes nothing."""

    draw: random.Random
    may_speak: Callable[[str], bool]
    names: set[str] = field(default_factory=set)
    past: deque[WordsEvent] = field(default_factory=lambda: deque(maxlen=200))
    _speaking: list[Iterator[WordsEvent]] = field(default_factory=list)
    _named: int = 0

    def next(self) -> WordsEvent:
        """Return one's next event; a new one speaks up where fewer than there should be do."""
        while True:
            while len(self._speaking) < _AT_ONCE:
                self._speaking.append(iter(self._newcomer()))
            speaker = self.draw.choice(self._speaking)
            said = next(speaker, None)
            if said is not None:
                self.past.append(said)
                return said
            self._speaking.remove(speaker)

    def rest(self) -> Iterator[WordsEvent]:
        """Yield what the ones that speak have left to say."""
        for speaker in self._speaking:
            yield from speaker

    def _newcomer(self) -> list[WordsEvent]:
        while not self.may_speak(name := f"good-{self._named}"):
            self._named += 1
        self._named += 1
        self.names.add(name)
        emission = (Emission.SENTENCE, Emission.SETTLED)[self._named % 2]
        said = speech(name, _WORDS, emission=emission)
        return [msgspec.structs.replace(one, epoch=1) for one in said]
