"""Spellings of one's own: "kubernetes" as Kubernetes, "post gres" as PostgreSQL, an operator's and a session's.

What is said is compared without case, marks and spaces, as phrases are (``cleaning``), so "postgres" said
in one word is found too. The longest one wins; a spelling is written as it stands, also at a sentence's beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from caesura.worker.core.overlays.overlay import Overlay, Stretch
from caesura.worker.core.rendering.cleaning import compared


@dataclass(frozen=True, slots=True, eq=False)
class Spellings:
    """What is said -> how it is written. What is said has a letter or a digit; else it is never found."""

    written: Mapping[str, str] = field(default_factory=dict)
    _compared: dict[str, str] = field(init=False, repr=False)
    _beginnings: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        said = {"".join(map(compared, phrase.split())): text for phrase, text in self.written.items()}
        beginnings = (phrase[:end] for phrase in said for end in range(1, len(phrase) + 1))
        object.__setattr__(self, "_compared", {phrase: text for phrase, text in said.items() if phrase})
        object.__setattr__(self, "_beginnings", frozenset(beginnings))

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self._compared)

    def may_begin(self, texts: Sequence[str]) -> bool:
        """Tell whether one of the words is a phrase that is spelled, or begins one with the word behind it."""
        beginnings = self._beginnings
        for place, text in enumerate(texts):
            said = compared(text)
            if said in beginnings and (
                said in self._compared
                or not said
                or (place + 1 < len(texts) and said + compared(texts[place + 1]) in beginnings)
            ):
                return True
        return False

    def joined(self, others: Mapping[str, str]) -> Spellings:
        """Return these with others, which win."""
        return Spellings({**self.written, **others}) if others else self

    def found(self, stretch: Stretch) -> Iterator[Overlay]:
        """Yield the spellings of a stretch, in order."""
        words = [compared(word) for word in stretch.words]
        begin = 0
        while begin < len(words):
            longest = self._longest(words, begin)
            if longest is not None:
                yield longest
            begin = longest.end if longest is not None else begin + 1

    def _longest(self, words: list[str], begin: int) -> Overlay | None:
        said, longest = "", None
        for end in range(begin, len(words)):
            said += words[end]
            if said not in self._beginnings:
                break
            if words[end] and said in self._compared:
                longest = Overlay(begin, end + 1, self._compared[said], "spelling")
        return longest


NO_SPELLINGS = Spellings()
