"""The one form that every corpus is read into: words with a mark and a disfluency tag each, both perhaps unknown."""

from __future__ import annotations

from dataclasses import dataclass, field

from caesura.schemas.labels import Disfluency, Punctuation

UNKNOWN = -1
"""The label of a word whose label nobody knows: its loss is masked."""

_STRENGTH = {
    Punctuation.NONE: 0,
    Punctuation.ENUMERATION_COMMA: 1,
    Punctuation.COMMA: 2,
    Punctuation.PERIOD: 3,
    Punctuation.QUESTION: 4,
}
_COMMAS = (Punctuation.ENUMERATION_COMMA, Punctuation.COMMA)
REPARANDUM = frozenset((Disfluency.B_RM, Disfluency.I_RM))
"""The tags of what a repair replaces."""


@dataclass(slots=True)
class AlignedDocument:
    """Words in the model's view, each with its labels (``labels`` numbers or ``UNKNOWN``).

    turn_ends: indices of the words that end a turn, paragraph or subtitle line; a sentence starts after each.
    """

    corpus: str
    name: str
    words: list[str] = field(default_factory=list)
    punctuation: list[int] = field(default_factory=list)
    disfluency: list[int] = field(default_factory=list)
    casing: list[int] = field(default_factory=list)
    turn_ends: set[int] = field(default_factory=set)

    def add(self, word: str, punctuation: int, disfluency: int, casing: int = UNKNOWN) -> None:
        """Append one word with its labels."""
        self.words.append(word)
        self.punctuation.append(punctuation)
        self.disfluency.append(disfluency)
        self.casing.append(casing)

    def first(self, words: int) -> AlignedDocument:
        """Return the document's first words, ``words`` at most."""
        return AlignedDocument(
            self.corpus,
            self.name,
            self.words[:words],
            self.punctuation[:words],
            self.disfluency[:words],
            self.casing[:words],
            {end for end in self.turn_ends if end < words},
        )

    def sentence_starts(self) -> list[int]:
        """Return the indices of the words that begin a sentence."""
        ends = (Punctuation.PERIOD, Punctuation.QUESTION)
        starts = [0] if self.words else []
        last = len(self.words) - 1
        starts.extend(i + 1 for i in range(last) if self.punctuation[i] in ends or i in self.turn_ends)
        return starts


def strongest(first: int, second: int) -> int:
    """Return the stronger of two marks: question, period, comma, enumeration comma, none; unknown last."""
    return max(first, second, key=lambda mark: _STRENGTH[Punctuation(mark)] if mark != UNKNOWN else -1)


def move_marks(document: AlignedDocument) -> None:
    """Move each mark on a disfluent word to the last fluent word before it; a stronger mark there stays.

    A comma that a reparandum stands before set off the repair and goes away, as in rendering (ADR 0007). So does a mark
    with no fluent word before it in its turn. In place.
    """
    fluent, repaired = UNKNOWN, False
    for i, tag in enumerate(document.disfluency):
        if tag in (Disfluency.O, UNKNOWN):
            fluent, repaired = i, False
            continue
        repaired |= tag in REPARANDUM
        mark = document.punctuation[i]
        document.punctuation[i] = Punctuation.NONE
        if repaired and mark in _COMMAS:
            mark = UNKNOWN
        if fluent != UNKNOWN and document.punctuation[fluent] != UNKNOWN and mark != UNKNOWN:
            document.punctuation[fluent] = strongest(document.punctuation[fluent], mark)
        if i in document.turn_ends:
            fluent = UNKNOWN
