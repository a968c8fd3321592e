"""An inference that stands still ends the process; one that goes on may take as long as it wants."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import pytest

from tests.harness.waiting import wait_until
from worker.adapters.system_clock import SystemClock
from worker.runtime.watchdog import InferenceWatchdog

DEADLINE_S = 0.2


def watched(progress: Callable[[], object], *, until: Callable[[], bool]) -> bool:
    """Run an inference until the watchdog bites or ``until`` says so; tell which of the two."""
    bitten = threading.Event()
    watchdog = InferenceWatchdog(deadline_s=DEADLINE_S, clock=SystemClock(), on_overrun=bitten.set)
    watchdog.start()
    with watchdog.inference(progress):
        wait_until(lambda: bitten.is_set() or until(), "neither bitten nor done", within_s=60.0)
    watchdog.stop()
    return bitten.is_set()


@pytest.mark.parametrize("stood_still", [lambda: None, lambda: 7])
def test_what_stands_still_is_ended(stood_still: Callable[[], object]) -> None:
    assert watched(stood_still, until=lambda: False)


def test_what_goes_on_is_left_alone_and_ended_once_it_stands_still() -> None:
    asked = itertools.count()
    assert not watched(lambda: next(asked), until=lambda: next(asked) > 50)
    passes = iter(range(30))
    assert watched(lambda: next(passes, None), until=lambda: False)


def test_an_inference_is_a_sign_of_life_where_it_begins_and_while_it_goes_on() -> None:
    told: list[str] = []
    watchdog = InferenceWatchdog(
        deadline_s=60.0, clock=SystemClock(), on_overrun=lambda: None, on_progress=lambda: told.append("alive")
    )
    with watchdog.inference():
        assert told == ["alive"]
    passes = itertools.count()
    watchdog.start()
    with watchdog.inference(lambda: next(passes)):
        wait_until(lambda: len(told) > 4, "an inference that goes on is not told of", within_s=60.0)
    watchdog.stop()


def test_an_inference_that_stands_still_is_no_sign_of_life() -> None:
    told: list[str] = []
    bitten = threading.Event()
    watchdog = InferenceWatchdog(
        deadline_s=DEADLINE_S, clock=SystemClock(), on_overrun=bitten.set, on_progress=lambda: told.append("alive")
    )
    watchdog.start()
    with watchdog.inference(lambda: None):
        assert bitten.wait(60.0)
    assert told == ["alive"]
