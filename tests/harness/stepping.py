"""A worker that stops at every step of the protocol until it is told to go on, so that a test owns the interleaving."""

from __future__ import annotations

from collections.abc import Callable

from greenlet import greenlet

from caesura.worker.ports.commit_steps import CommitStepReached
from caesura.worker.ports.observer import Event, LoopMoved, Observer, SilentObserver
from tests.harness.crashing import Crash
from tests.harness.in_memory_world import InMemoryWorker


class SteppedWorker(SilentObserver):
    """Runs a worker one step at a time, on a stack of its own; whoever advances it stands still meanwhile."""

    def __init__(self, make: Callable[[Observer], InMemoryWorker]) -> None:
        self._make = make
        self._stack = greenlet(self._run)
        self._crashing = False
        self.twin: InMemoryWorker | None = None
        self.at = "made"
        self.ended = False
        self.error: BaseException | None = None

    def advance(self) -> None:
        """Let it run to its next stop."""
        if not self.ended:
            self._stack.switch()

    def crash(self) -> None:
        """Let it vanish where it stands."""
        if self.at == "made":
            self.ended = True
        self._crashing = True
        self.advance()

    def note(self, event: Event) -> None:
        if isinstance(event, CommitStepReached):
            self._stop(event.step)
        elif isinstance(event, LoopMoved):
            self._stop("turn")

    def _stop(self, where: str) -> None:
        self.at = where
        self._wait()

    def _wait(self) -> None:
        advancing = self._stack.parent
        assert advancing is not None
        advancing.switch()
        if self._crashing:
            raise Crash

    def _run(self) -> None:
        try:
            self.twin = self._make(self)
            while True:
                self.twin.turn()
        except Crash:
            pass
        except BaseException as error:  # noqa: BLE001 (whatever ended it is the test's to judge)
            self.error = error
        self.ended = True
