"""Crashes and pauses on purpose, in the test's own process: an observer that stops the worker at a step of the seam."""

from __future__ import annotations

from collections.abc import Callable

from worker.ports.observer import Event, SilentObserver
from worker.ports.seam_events import SeamReached, SeamStep

__all__ = ["Crash", "CrashAt", "Interrupted"]


class Crash(BaseException):
    """The process is gone: nothing of the worker runs on, and nothing may catch it."""


class CrashAt(SilentObserver):
    """Crashes at a step of the seam, once armed, after it was passed so many times."""

    def __init__(self, step: SeamStep, passes: int = 0, *, armed: bool = True) -> None:
        self._step = step
        self._passes = passes
        self.armed = armed

    def note(self, event: Event) -> None:
        if not isinstance(event, SeamReached) or event.step is not self._step or not self.armed:
            return
        if self._passes == 0:
            raise Crash
        self._passes -= 1


class Interrupted(SilentObserver):
    """Does something of the test's at a step of the seam, once armed, and then goes on."""

    def __init__(self, step: SeamStep, action: Callable[[], None], *, armed: bool = False) -> None:
        self._step = step
        self._action = action
        self.armed = armed

    def note(self, event: Event) -> None:
        if isinstance(event, SeamReached) and event.step is self._step and self.armed:
            self.armed = False
            self._action()
