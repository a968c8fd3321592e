"""Delays stop signals until the running work is done."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Self

from typing_extensions import override


class HeldStops(contextlib.ExitStack):
    """SIGTERM is taken as Ctrl-C: an orchestrator's stop, too, sends what was heard.

    Either waits until what is begun is done (``held``), or for the rest (``hold``); a second one does not.
    """

    _holding = _asked = False

    @override
    def __enter__(self) -> Self:
        for number in (signal.SIGTERM, signal.SIGINT):
            if signal.getsignal(number) is signal.SIG_IGN:  # a shell has put us into the background
                continue
            self.callback(signal.signal, number, signal.signal(number, self._ask))
        return super().__enter__()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let a stop wait until the end of the block; KeyboardInterrupt there."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._asked:
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Let a stop wait from here on: what is left is what a stop asks for."""
        self._holding = True

    def _ask(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        asked_before, self._asked = self._asked, True
        if asked_before or not self._holding:
            raise KeyboardInterrupt
