"""How words become pieces in every model that is trained here: the special pieces, and the most that a word has."""

from __future__ import annotations

from pathlib import Path

LEADING = "[CLS]"
"""Stands before the first word: something to look at that is always there."""

UNKNOWN_PIECE = "[UNK]"

MAX_PIECES = 8


def read_vocabulary(path: Path) -> list[str]:
    """Return the pieces of a file of one a line, by number."""
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")
