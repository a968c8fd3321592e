"""The order of tests where several processes run them: what waits for brokers first, and beside it what computes.

pytest-xdist gives each process a stretch of the tests, one after the other, and one that is done takes from the end of
another's. So the stretches begin with the files that want real parts, all but the first, which begins with the others;
and of those the files with the tests that are given most time come first, for a long one that is begun last keeps one
process busy and the others idle.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby

import pytest

__all__ = ["dealt"]

_REAL_PARTS = ("kafka", "redis")


def dealt(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """Return the tests in stretches of about as many, whole files in each; of one process's tests nothing is moved."""
    if processes < 2:
        return list(items)
    files = [list(file) for _, file in groupby(items, key=lambda item: item.path)]
    waiting: list[list[pytest.Item]] = []
    computing: list[list[pytest.Item]] = []
    for file in files:
        real = any(item.get_closest_marker(part) for item in file for part in _REAL_PARTS)
        (waiting if real else computing).append(file)
    waiting.sort(key=_patience_s, reverse=True)
    stretches: list[list[list[pytest.Item]]] = [[] for _ in range(processes)]
    for number, file in enumerate(waiting):
        stretches[1 + number % (processes - 1)].append(file)
    for file in computing:
        min(stretches, key=lambda stretch: sum(map(len, stretch))).append(file)
    order = list(chain.from_iterable(chain.from_iterable(stretches)))
    assert sorted(map(id, order)) == sorted(map(id, items)), "each test once"
    return order


def _patience_s(file: list[pytest.Item]) -> float:
    """Return the longest time that any of a file's tests is given."""
    marks = [mark for item in file if (mark := item.get_closest_marker("timeout")) is not None]
    return max((float(mark.args[0]) for mark in marks), default=0.0)
