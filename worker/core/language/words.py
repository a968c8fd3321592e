"""Turns the recogniser's units into the words that the model counts; each session and language has a segmenter.

Rules, for every segmenter:

1. Units come in order, each a whole piece, in calls of any size. The words do not depend on the size of the calls.
2. The texts of all pieces, joined, equal those of all units. No piece is larger than its unit, and every unit is
   covered exactly once. The last of several pieces of one word will have its punctuation.
3. A word that came out never changes. Text that later units may still join is held back; ``flush`` settles it as it is.
4. A segmenter made from another's ``held`` goes on exactly as the other would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from caesura.schemas.state import HeldBack, ModelWord, ModelWordPiece, Unit
from caesura.worker.core.language.normalisation import model_view

__all__ = [
    "HeldBack",
    "ModelWord",
    "ModelWordPiece",
    "SegmenterFactory",
    "Unit",
    "WhitespaceSegmenter",
    "WordSegmenter",
    "as_unit",
    "cut_piece",
    "whitespace_segmenters",
    "whole_piece",
]


class WordSegmenter(Protocol):
    """Turns units into model words."""

    @property
    def held(self) -> HeldBack:
        """What is held back, enough to go on from in another process."""
        ...

    def push(self, units: Sequence[ModelWordPiece]) -> list[ModelWord]:
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


def cut_piece(unit: Unit | ModelWordPiece, start: int, end: int) -> ModelWordPiece:
    """Return the code points ``start`` to ``end`` of a unit as a piece; its times and confidence are the unit's."""
    return ModelWordPiece(
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


def whole_piece(unit: Unit | ModelWordPiece) -> ModelWordPiece:
    """Return a unit that was stored, or a piece as a unit of its own, as a segmenter takes it."""
    return cut_piece(unit, 0, len(unit.text))


def as_unit(piece: ModelWordPiece) -> Unit:
    """Return a piece as a unit of its own, as it is stored where it is held back."""
    return Unit(
        text=piece.text,
        start_ms=piece.start_ms,
        end_ms=piece.end_ms,
        confidence=piece.confidence,
        offset=piece.offset,
        position=piece.position,
        appended_ms=piece.appended_ms,
        polled_ms=piece.polled_ms,
    )


_NOTHING = HeldBack()


class WhitespaceSegmenter:
    """One unit, one word, one piece: English, and every language without a segmenter of its own.

    It holds nothing back; what another segmenter held before a change of settings goes out first.
    """

    __slots__ = ("_held",)

    def __init__(self, held: HeldBack | None = None) -> None:
        self._held = held or _NOTHING

    @property
    def held(self) -> HeldBack:
        """Return what another segmenter left, until it has gone out."""
        return self._held

    def push(self, units: Sequence[ModelWordPiece]) -> list[ModelWord]:
        """Return a word a unit."""
        words = [ModelWord(view=model_view(unit.text), pieces=(unit,)) for unit in units]
        return [*self.flush(), *words] if self._held.units else words

    def flush(self) -> list[ModelWord]:
        """Return what another segmenter left, once."""
        held, self._held = self._held, _NOTHING
        words = []
        for position, unit in enumerate(held.units):
            piece = cut_piece(unit, 0 if position else held.given_code_points, len(unit.text))
            words.append(ModelWord(view=model_view(piece.text), pieces=(piece,)))
        return words


def whitespace_segmenters(language: str, held: HeldBack) -> WordSegmenter:  # noqa: ARG001 - the factory's shape
    """Return the segmenter that takes units as words, for any language."""
    return WhitespaceSegmenter(held)
