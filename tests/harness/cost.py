"""How the work of reading grows with what is read: by the processor time of this process, the one clock in tests."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["LINEAR_AT_MOST", "growth"]

_Made = TypeVar("_Made")

LINEAR_AT_MOST = 12.0
"""Eight times as much input may take so many times as long: a reader that takes the square of it takes 64 times."""

_LEAST_S = 0.002
"""What is over sooner is not told from the clock's own steps."""


def growth(make: Callable[[int], _Made], read: Callable[[_Made], object], size: int = 64_000) -> float:
    """Return how many times longer 8 times ``size`` takes to read; the best of three of each, taken in turns."""
    took = [(_took_s(make, read, size), _took_s(make, read, 8 * size)) for _ in range(3)]
    return min(large for _, large in took) / max(_LEAST_S, min(small for small, _ in took))


def _took_s(make: Callable[[int], _Made], read: Callable[[_Made], object], size: int) -> float:
    made = make(size)
    gc.collect()
    gc.freeze()  # what is there already is not looked through again and again: that is not the reader's work
    try:
        began_s = time.process_time()
        read(made)
        return time.process_time() - began_s
    finally:
        gc.unfreeze()
