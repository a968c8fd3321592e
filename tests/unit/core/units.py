"""Builders of recogniser units and dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from caesura.schemas.state import ModelWord, ModelWordPiece
from caesura.worker.core.language.dictionary import Dictionary


def unit(text: str, position: int = 0) -> ModelWordPiece:
    return ModelWordPiece(
        text=text,
        start_ms=position * 100,
        end_ms=position * 100 + 90,
        confidence=0.5,
        offset=7,
        position=position,
        appended_ms=1,
        polled_ms=2,
        unit_start=0,
        unit_length=len(text),
    )


def units_of(texts: Sequence[str]) -> list[ModelWordPiece]:
    return [unit(text, position) for position, text in enumerate(texts)]


def views(words: Sequence[ModelWord]) -> list[str]:
    return [word.view for word in words]


def texts(words: Sequence[ModelWord]) -> list[list[str]]:
    return [[piece.text for piece in word.pieces] for word in words]


def dictionary_of(*words: str) -> Dictionary:
    """Build a dictionary in which every word is equally frequent."""
    return counted_dictionary(dict.fromkeys(words, 10))


def counted_dictionary(counts: Mapping[str, int]) -> Dictionary:
    """Build a dictionary of words and how often each occurs."""
    return Dictionary("".join(f"{word} {count} n\n" for word, count in counts.items()))
