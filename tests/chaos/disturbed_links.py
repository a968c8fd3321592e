"""A link cut, stalled or slowed, as a fault says."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from tests.chaos.schedule import Fault
from tests.harness.parts.proxy import Link

__all__ = ["disturb"]


def disturb(link: Link, fault: Fault) -> None:
    """Disturb a link; blocks for as long as that lasts."""
    how = fault.kind.rpartition("_")[2]
    if how == "cut":
        link.cut()
        return
    with _stalled(link) if how == "stall" else _slowed(link, 0.02 + 0.2 * fault.where):
        time.sleep(fault.lasts_s)


@contextlib.contextmanager
def _stalled(link: Link) -> Iterator[None]:
    link.stall(on=True)
    try:
        yield
    finally:
        link.stall(on=False)


@contextlib.contextmanager
def _slowed(link: Link, delay_s: float) -> Iterator[None]:
    link.slow(delay_s)
    try:
        yield
    finally:
        link.slow(0.0)
