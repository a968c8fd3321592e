"""Crashes and pauses on purpose, in the test's own process: an observer stops the worker at a commit step."""

from __future__ import annotations

from collections.abc import Callable

from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.observer import Event, SilentObserver


class Crash(BaseException):
    """The process is gone: nothing of the worker runs on, and nothing may catch it."""


class CrashAt(SilentObserver):
    """Crashes at a step of the commit protocol, once armed, after it was passed so many times."""

    def __init__(self, step: CommitStep, passes: int = 0, *, armed: bool = True) -> None:
        self._step = step
        self._passes = passes
        self.armed = armed

    def note(self, event: Event) -> None:
        if not isinstance(event, CommitStepReached) or event.step is not self._step or not self.armed:
            return
        if self._passes == 0:
            raise Crash
        self._passes -= 1


class Interrupted(SilentObserver):
    """Does something of the test's at a step of the commit protocol, once armed, and then goes on."""

    def __init__(self, step: CommitStep, action: Callable[[], None], *, armed: bool = False) -> None:
        self._step = step
        self._action = action
        self.armed = armed

    def note(self, event: Event) -> None:
        if isinstance(event, CommitStepReached) and event.step is self._step and self.armed:
            self.armed = False
            self._action()
