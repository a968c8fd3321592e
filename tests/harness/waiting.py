"""Waiting for something that another thread, process or server does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def comes(
    asked: Callable[[], Answer],
    *,
    within_s: float,
    every_s: float = 0.1,
    meanwhile: Callable[[], object] = lambda: None,
) -> Answer:
    """Ask until the answer is true, and return it; the last answer, which is false, where it never is.

    meanwhile: called after every answer that is false; what it raises ends the wait.
    """
    ends_at_s = time.monotonic() + within_s
    while not (answer := asked()) and time.monotonic() < ends_at_s:
        meanwhile()
        time.sleep(every_s)
    return answer


def wait_until(
    asked: Callable[[], Answer],
    otherwise: str | Callable[[], str] = "it never came to be",
    *,
    within_s: float = 120.0,
    every_s: float = 0.1,
    meanwhile: Callable[[], object] = lambda: None,
) -> Answer:
    """Ask until the answer is true, and return it; the test fails with ``otherwise`` where it never is."""
    answer = comes(asked, within_s=within_s, every_s=every_s, meanwhile=meanwhile)
    assert answer, f"{otherwise if isinstance(otherwise, str) else otherwise()} (within {within_s:g} s)"
    return answer


def retried(
    call: Callable[[], Answer], *, despite: type[Exception], within_s: float = 120.0, every_s: float = 0.1
) -> Answer:
    """Call until it raises none of these, and return its answer; the last one is raised where it always does."""
    raised: list[Exception] = []

    def answers() -> list[Answer]:
        try:
            return [call()]
        except despite as error:
            raised.append(error)
            return []

    if not (given := comes(answers, within_s=within_s, every_s=every_s)):
        raise raised[-1]
    return given[0]
