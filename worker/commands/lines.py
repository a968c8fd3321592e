"""The lines of a file, or of standard input."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from worker.errors import FatalError

__all__ = ["read_lines"]


def read_lines(file: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, or of standard input for ``-``, as they come. FatalError with the reason."""
    try:
        with contextlib.nullcontext(sys.stdin) if file == "-" else Path(file).open(encoding="utf-8") as lines:
            yield from lines
    except OSError as error:
        raise FatalError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FatalError(f"{file} is not UTF-8 text (byte {error.start})") from None
