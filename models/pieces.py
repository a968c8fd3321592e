"""How words become pieces in every model that is trained here: the special pieces, and the most that a word has."""

from __future__ import annotations

__all__ = ["LEADING", "MAX_PIECES", "UNKNOWN_PIECE"]

LEADING = "[CLS]"
"""Stands before the first word: something to look at that is always there."""

UNKNOWN_PIECE = "[UNK]"

MAX_PIECES = 8
