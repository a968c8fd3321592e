"""An engine that one word is too much for: the process that labels it is gone, as native code may have it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence

from worker.adapters.memory.engine import ScriptedEngine
from worker.core.labelling import LabelRequest, Labels

__all__ = ["DEADLY", "DeadlyEngine", "Killed", "kill_process"]

DEADLY = "deadly"


class Killed(BaseException):
    """The process is gone, as far as a test on twins is concerned."""


def kill_process() -> None:
    """Go without another word."""
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_twin() -> None:
    raise Killed


class DeadlyEngine(ScriptedEngine):
    """Labels like the scripted one."""

    def __init__(self, kill: Callable[[], None] = _kill_twin) -> None:
        super().__init__()
        self._kill = kill

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label, unless the word is among them."""
        if any(DEADLY in request.words for request in requests):
            self._kill()
        return super().label(requests)
