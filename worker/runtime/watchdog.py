"""Ends the process where an inference hangs: nothing is lost, and a restart goes on from the last checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worker.ports.clock import Clock

__all__ = ["InferenceWatchdog"]

_LOOK_S = 1.0
"""So often an inference is looked at, at least."""


class InferenceWatchdog:
    """Watches, from a thread of its own, that no inference stands still beyond its deadline.

    One that goes on may take longer: a batch of long words whose rows are gone is many passes. on_overrun is called in
    that thread and is expected not to return (``os._exit``): the loop thread hangs in native code, where no exception
    reaches it. on_progress is called where an inference begins, and in the watching thread while it goes on: signs of
    life of a loop that works on one turn for long.
    """

    def __init__(
        self,
        *,
        deadline_s: float,
        clock: Clock,
        on_overrun: Callable[[], None],
        on_progress: Callable[[], None] = lambda: None,
    ) -> None:
        self._deadline_s = deadline_s
        self._clock = clock
        self._on_overrun = on_overrun
        self._on_progress = on_progress
        self._ends_at_s: float | None = None
        self._progress: Callable[[], object] = lambda: None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="inference-watchdog", daemon=True)

    def start(self) -> None:
        """Start watching."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()

    @contextmanager
    def inference(self, progress: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Watch what runs inside. progress: another value wherever it has gone on; asked in the watching thread."""
        self._on_progress()
        self._progress = progress
        self._ends_at_s = self._clock.monotonic_s() + self._deadline_s
        try:
            yield
        finally:
            self._ends_at_s = None

    def _watch(self) -> None:
        known: object = None
        went_on_s = self._clock.monotonic_s()
        while not self._stopped.wait(min(_LOOK_S, self._deadline_s / 10.0)):
            ends_at_s, now_s = self._ends_at_s, self._clock.monotonic_s()
            if ends_at_s is None:
                continue
            if (told := self._progress()) != known:
                known, went_on_s = told, now_s
                self._on_progress()
            if now_s > max(ends_at_s, went_on_s + self._deadline_s):
                self._on_overrun()
                return
