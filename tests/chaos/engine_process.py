"""The scripted engine of a member under chaos, in a process of its own as a worker has it: signals trouble it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from caesura.worker.adapters.onnx.child_engine import ChildEngine
from caesura.worker.adapters.onnx.child_messages import EngineStart
from caesura.worker.adapters.onnx.child_process import main
from caesura.worker.ports.engine import Engine
from tests.chaos.changes import served_models
from tests.harness.engines import RaisingEngine

RAISE = signal.SIGUSR1
HANG = signal.SIGUSR2
KILL = signal.SIGRTMIN
_PASSED_ON = {RAISE: RAISE, HANG: signal.SIGSTOP, KILL: signal.SIGKILL}
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[2:]; from tests.chaos.engine_process import serve; serve(int(sys.argv[1]))"
)
_DEADLINE_S = 2.0
_RAISES = 2
"""A batch that raises is run session by session, each twice: so the labels stay the undisturbed run's."""


def started_engine(versions: Sequence[int]) -> ChildEngine:
    """Start the engine's process, and listen to the signals; main thread only. versions: the active one first."""
    engine = ChildEngine(
        Path(), active=tuple(map(str, versions)), max_kept_bytes=0, deadline_s=_DEADLINE_S, run=_PROGRAM
    )

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        with suppress(ProcessLookupError):
            os.kill(engine.pid, _PASSED_ON[signal.Signals(number)])

    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    return engine


def serve(descriptor: int) -> None:
    """Serve a member: the engine's process."""
    main(descriptor, _scripted)


def _scripted(begin: EngineStart) -> tuple[Engine, Mapping[str, str]]:
    engine = RaisingEngine(models=served_models(*map(int, begin.active)))

    def fail_next(number: int, frame: FrameType | None) -> None:
        del number, frame
        engine.left = _RAISES

    signal.signal(RAISE, fail_next)
    return engine, {}
