"""An engine's process that dies, hangs, eats memory or raises at certain words; scripted otherwise."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence

from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.onnx.child_messages import EngineStart
from caesura.worker.adapters.onnx.child_process import main
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.ports.engine import Engine

PROGRAM = (
    "import sys; sys.path[:] = sys.argv[2:]; from tests.harness.deadly_process import serve; serve(int(sys.argv[1]))"
)


class DeadlyEngine(ScriptedEngine):
    """What it does depends on the words alone, so a session does it again when it is asked alone."""

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        words = {word for one in requests for word in one.words}
        if "deadly" in words:
            os.kill(os.getpid(), signal.SIGKILL)
        if "hanging" in words:
            os.kill(os.getpid(), signal.SIGSTOP)
        if "hungry" in words:
            _ = [bytearray(1 << 26) for _ in range(200)]
        if "raising" in words:
            raise KeyError("a text that may be a word")
        return super().label(requests)


def _deadly(begin: EngineStart) -> tuple[Engine, Mapping[str, str]]:
    del begin
    return DeadlyEngine(languages=("en",)), {}


def serve(descriptor: int) -> None:
    """Serve a deadly engine."""
    main(descriptor, _deadly)
