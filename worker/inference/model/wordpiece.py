"""WordPiece: turns a word's view into the sub-word numbers that a network reads, by greedy longest match as in BERT.

Rules, the same in training and in serving:

1. accents are removed, control characters are dropped, and a word is split around every punctuation mark and every
   Chinese character ("don't" is three runs), and at a space that normalisation left inside it;
2. a run is matched greedily, longest piece first, inner pieces with ``##``; a run that cannot be matched, or of more
   than 100 characters, is one unknown piece;
3. a word has one to ``max_pieces`` pieces: an empty word is the unknown piece, a longer word loses its last pieces;
4. in a vocabulary that holds ``[ACCENTED]`` accents stay ("tú" is not "tu"), and an apostrophe ends the run before it
   ("l'été" is "l'" and "été").

A worker so needs no tokenizer library; a test compares the results with one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

ACCENTED = "[ACCENTED]"
"""A marker piece: the pieces of a vocabulary that holds it have accents."""

_MAX_RUN_CHARACTERS = 100
_CACHED_WORDS = 50_000
_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),  # as published: the block itself begins at 2B820
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """A vocabulary and the rules above. ``pieces`` caches the latest words."""

    def __init__(self, vocabulary: Sequence[str], *, max_pieces: int, unknown: str = "[UNK]") -> None:
        """Take the vocabulary. A piece's number is its index; ``unknown`` must be in it."""
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = self._numbers[unknown]
        self._max_pieces = max_pieces
        self._runs = accented_runs if ACCENTED in self._numbers else _runs
        self._longest = max(map(len, vocabulary))
        self.pieces = lru_cache(maxsize=_CACHED_WORDS)(self._pieces)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The pieces, in their order."""
        return tuple(self._numbers)

    def number(self, piece: str) -> int:
        """Return the number of a piece. KeyError if the vocabulary lacks it."""
        return self._numbers[piece]

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Return the numbers of one word's pieces, at least one and at most ``max_pieces``."""
        numbers: list[int] = []
        for run in self._runs(word):
            numbers.extend(self._match(run))
            if len(numbers) >= self._max_pieces:
                break
        return tuple(numbers[: self._max_pieces]) or (self._unknown,)

    def _match(self, run: str) -> list[int]:
        if len(run) > _MAX_RUN_CHARACTERS:
            return [self._unknown]
        numbers: list[int] = []
        start = 0
        while start < len(run):
            prefix = "##" if start else ""
            for end in range(min(len(run), start + self._longest), start, -1):
                number = self._numbers.get(prefix + run[start:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            numbers.append(number)
            start = end
        return numbers


def _runs(word: str) -> Iterator[str]:
    run = ""
    for char in unicodedata.normalize("NFD", word):
        category = unicodedata.category(char)
        if category == "Mn" or category in ("Cc", "Cf", "Co") or char == "\ufffd":
            continue
        if category == "Zs" or _stands_alone(char, category):
            if run:
                yield run
            if category != "Zs":
                yield char
            run = ""
        else:
            run += char
    if run:
        yield run


def accented_runs(word: str) -> Iterator[str]:
    """Yield the runs of a word, each of which is matched alone (rule 4)."""
    run = ""
    for char in unicodedata.normalize("NFC", word):
        if char == "'":
            yield run + char
            run = ""
        elif char.isalnum() or unicodedata.category(char)[0] == "M":
            run += char
        else:
            if run:
                yield run
            if not char.isspace():
                yield char
            run = ""
    if run:
        yield run


def _stands_alone(char: str, category: str) -> bool:
    code = ord(char)
    if code < 128:
        return not char.isalnum()
    return category[0] == "P" or any(first <= code <= last for first, last in _CHINESE)
