"""Escapes text from outside for display: it cannot move a terminal's cursor, forge a line, or hide in one."""

from __future__ import annotations

from unicodedata import category

_UNSHOWN = frozenset(("Cc", "Cs", "Zl", "Zp"))
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""They change the order of what stands beside them, so that a line reads as something else."""


def escaped(text: str | bytes) -> str:
    r"""Return a text on one line: control characters, line breaks and marks of direction stand as ``\u001b``.

    Bytes are read as UTF-8. JSON stays JSON of the same meaning.
    """
    return _escaped(text.decode(errors="replace") if isinstance(text, bytes) else text, kept="")


def escaped_lines(text: str) -> str:
    """Return a text of several lines as ``escaped`` does, with its line feeds and tabs."""
    return _escaped(text, kept="\n\t")


def _escaped(text: str, *, kept: str) -> str:
    if text.isprintable() and text.isascii():
        return text
    return "".join(char if char in kept or not _is_unsafe(char) else f"\\u{ord(char):04x}" for char in text)


def _is_unsafe(char: str) -> bool:
    return category(char) in _UNSHOWN or char in _BIDI
