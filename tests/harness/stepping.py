"""A worker that stops at every step of the seam until it is told to go on, so that a test owns the interleaving."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tests.harness.crashing import Crash
from tests.harness.twin_world import TwinWorker
from worker.ports.observer import Event, LoopMoved, Observer, SeamReached, SilentObserver

__all__ = ["SteppedWorker"]

_FOR_EVER_S = 60.0


class SteppedWorker(SilentObserver):
    """Runs a worker in a thread of its own, one step at a time; never two threads at once."""

    def __init__(self, make: Callable[[Observer], TwinWorker]) -> None:
        self._make = make
        self._go = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        self._crashing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.twin: TwinWorker | None = None
        self.at = "made"
        self.ended = False
        self.error: BaseException | None = None
        self._thread.start()

    def advance(self) -> None:
        """Let it run to its next stop."""
        if not self.ended:
            self._go.release()
            assert self._stopped.acquire(timeout=_FOR_EVER_S), f"a worker hangs after {self.at}"

    def crash(self) -> None:
        """Let it vanish where it stands."""
        self._crashing = True
        self.advance()
        self._thread.join(_FOR_EVER_S)

    def note(self, event: Event) -> None:
        if isinstance(event, SeamReached):
            self._stop(event.step)
        elif isinstance(event, LoopMoved):
            self._stop("turn")

    def _stop(self, where: str) -> None:
        self.at = where
        self._stopped.release()
        self._wait()

    def _wait(self) -> None:
        assert self._go.acquire(timeout=_FOR_EVER_S), "the test forgot a worker"
        if self._crashing:
            raise Crash

    def _run(self) -> None:
        try:
            self._wait()
            self.twin = self._make(self)
            while True:
                self.twin.turn()
        except Crash:
            pass
        except BaseException as error:  # noqa: BLE001 (whatever ended it is the test's to judge)
            self.error = error
        self.ended = True
        self._stopped.release()
