"""The scripted engine, whose next inference can be made to raise or to hang: by signals, since it runs elsewhere."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from types import FrameType

from caesura.schemas.labels import Labels
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.ports.engine import EngineModel
from tests.harness.engines import RaisingEngine

__all__ = ["HANG", "HUNG", "RAISE", "ChaoticEngine"]

RAISE = signal.SIGUSR1
HANG = signal.SIGUSR2
_RAISES = 2
"""A batch that raises is run session by session, each twice: so the labels stay the undisturbed run's."""
HANGS_S = 2.0
HUNG = 3
"""Exit status of a process whose inference hung."""


class ChaoticEngine(RaisingEngine):
    """Labels like the scripted one."""

    def __init__(self, models: Sequence[EngineModel] | None = None) -> None:
        super().__init__(models=models)
        self._hangs = False

    def obey_signals(self) -> None:
        """Listen to the signals; main thread only."""
        signal.signal(RAISE, self._on_raise)
        signal.signal(HANG, self._on_hang)

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label, unless told otherwise."""
        if self._hangs:  # no process of its own can be killed here: whoever waits for it too long ends with it
            time.sleep(HANGS_S)
            os._exit(HUNG)
        return super().label(requests)

    def _on_raise(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.left = _RAISES

    def _on_hang(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._hangs = True
