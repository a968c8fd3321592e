"""How far a long command has come: a bar on a terminal, a plain line every few seconds elsewhere; on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from caesura.worker.commands.terminal import echo

__all__ = ["counted", "counted_noun"]

_Item = TypeVar("_Item")
_EVERY_S = 5.0


def counted(items: Iterable[_Item], *, doing: str, total: int | None = None) -> Iterator[_Item]:
    """Yield the items and show how many have gone by."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            yield from progress.track(items, total=total, description=doing)
        return
    said_s = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        if time.monotonic() - said_s > _EVERY_S:
            said_s = time.monotonic()
            echo(f"{doing}: {number}{f' of {total}' if total else ''}\n", err=True, nl=False)


def counted_noun(count: int, noun: str) -> str:
    """Return ``1 event``, ``2 events``."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
