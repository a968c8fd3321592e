"""The lines of a file, or of standard input."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from worker.errors import FatalError

__all__ = ["read_lines"]


def read_lines(file: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, or of standard input for ``-``, as they come. FatalError with the reason.

    Bytes are decoded here, line by line: an interpreter's standard input may let what is no UTF-8 pass in disguise, and
    break where it is printed.
    """
    shown = "standard input" if file == "-" else file
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as lines:
            at = 0
            for line in lines:
                yield _decoded(line, at, shown)
                at += len(line)
    except OSError as error:
        raise FatalError(f"{shown} cannot be read: {error.strerror}") from error


def _decoded(line: bytes, at: int, shown: str) -> str:
    try:
        return line.decode("utf-8" if at else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise FatalError(f"{shown} is not UTF-8 text (byte {at + error.start})") from None
