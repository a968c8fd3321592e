"""From the recogniser's units to the words that the model counts: one segmenter a session and language.

Rules, for every segmenter:

1. Units come in order, in calls of any size; the words that come out do not depend on the size of the calls.
2. The pieces' texts, joined, are the units' texts, joined; no piece is larger than its unit, and every unit is covered
   exactly once. Of several pieces of one word the last will carry its punctuation.
3. A word that came out never changes. What later units may still join is held back; ``flush`` settles it as it stands.
4. A segmenter made from another's ``held`` goes on exactly as the other would have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from schemas.state import HeldBack, ModelWord, Unit, WordPiece
from worker.core.view import model_view

__all__ = [
    "HeldBack",
    "ModelWord",
    "SegmenterFactory",
    "Unit",
    "WhitespaceSegmenter",
    "WordPiece",
    "WordSegmenter",
    "cut_piece",
    "whitespace_segmenters",
]


class WordSegmenter(Protocol):
    """Turns units into model words."""

    @property
    def held(self) -> HeldBack:
        """What is held back, enough to go on from in another process."""
        ...

    def push(self, units: Sequence[Unit]) -> list[ModelWord]:
        """Take more units; return the words that nothing later can change."""
        ...

    def flush(self) -> list[ModelWord]:
        """Settle what is held back as it stands, and hold nothing."""
        ...


class SegmenterFactory(Protocol):
    """Makes the segmenter of a session for a language, from what another one held."""

    def __call__(self, language: str, held: HeldBack) -> WordSegmenter:
        """Return a segmenter. language: the primary subtag as ``primary_language`` gives it, such as ``zh``."""
        ...


def cut_piece(unit: Unit, start: int, end: int) -> WordPiece:
    """Return the code points ``start`` to ``end`` of a unit as a piece; its times and confidence are the unit's."""
    return WordPiece(
        text=unit.text[start:end],
        start_ms=unit.start_ms,
        end_ms=unit.end_ms,
        confidence=unit.confidence,
        offset=unit.offset,
        position=unit.position,
        appended_ms=unit.appended_ms,
        polled_ms=unit.polled_ms,
        unit_start=start,
        unit_length=len(unit.text),
    )


class WhitespaceSegmenter:
    """One unit, one word, one piece: English, and every language without a segmenter of its own. Holds nothing."""

    __slots__ = ()

    @property
    def held(self) -> HeldBack:
        """Return nothing: no unit waits for another."""
        return HeldBack()

    def push(self, units: Sequence[Unit]) -> list[ModelWord]:
        """Return a word a unit."""
        return [ModelWord(view=model_view(unit.text), pieces=(cut_piece(unit, 0, len(unit.text)),)) for unit in units]

    def flush(self) -> list[ModelWord]:
        """Return nothing."""
        return []


def whitespace_segmenters(language: str, held: HeldBack) -> WordSegmenter:  # noqa: ARG001 - the factory's shape
    """Return the segmenter that takes units as words, for any language."""
    return WhitespaceSegmenter()
