"""Texts as the units of a recogniser: what the worker's segmenters take."""

from __future__ import annotations

from collections.abc import Iterable

from caesura.schemas.state import ModelWordPiece


def as_units(texts: Iterable[str]) -> list[ModelWordPiece]:
    """Return one unit a text, numbered in ``position``; times and offsets mean nothing here."""
    return [
        ModelWordPiece(
            text=text,
            start_ms=None,
            end_ms=None,
            confidence=None,
            offset=0,
            position=position,
            appended_ms=0,
            polled_ms=0,
            unit_start=0,
            unit_length=len(text),
        )
        for position, text in enumerate(texts)
    ]
