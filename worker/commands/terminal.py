"""What the commands write: whatever came from outside cannot move a terminal's cursor, forge a line, or hide in one.

``echo`` and ``write`` are the only ways of a command to stdout and stderr (``tests/architecture``). Keys, names and
headers go through ``escaped`` before: a line break in one must not make a line.
"""

from __future__ import annotations

import sys
from unicodedata import category

import typer

__all__ = ["echo", "escaped", "write"]

_UNSHOWN = frozenset(("Cc", "Cs", "Zl", "Zp"))
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""They change the order of what stands beside them, so that a line reads as something else."""


def escaped(text: str | bytes) -> str:
    r"""Return a text in which control characters, line breaks and what changes the order stand as ``\u001b``.

    Bytes are read as UTF-8. So JSON stays JSON, of the same meaning.
    """
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    return "".join(map(_sign, text)) if _unsafe(text) else text


def echo(text: str = "", *, sign: str = "", colour: str | None = None, err: bool = False, nl: bool = True) -> None:
    """Write a text and a line break. Line breaks and tabs in it stay; all else that ``escaped`` escapes does not.

    sign: our own words before it, in a colour.
    """
    typer.echo(typer.style(sign, fg=colour) + _lines(text) if sign else _lines(text), err=err, nl=nl)


def write(text: str) -> None:
    """Write a text to stdout at once, as it stands but for what ``echo`` escapes."""
    sys.stdout.write(_lines(text))
    sys.stdout.flush()


def _lines(text: str) -> str:
    if not _unsafe(text):
        return text
    return "".join(char if char in "\n\t" else _sign(char) for char in text)


def _unsafe(text: str) -> bool:
    return not text.isprintable() and any(map(_is_unsafe, text))


def _is_unsafe(char: str) -> bool:
    return category(char) in _UNSHOWN or char in _BIDI


def _sign(char: str) -> str:
    return f"\\u{ord(char):04x}" if _is_unsafe(char) else char
