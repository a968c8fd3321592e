"""An engine's process that is stopped or killed costs a live worker a moment, no word and no label."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.harness.rehearsal import Rehearsal
from tests.integration.sessions import events, wait_for_ends, whole, words_by_session


def engine_of(worker: int) -> int:
    """Return the number of the engine's process, the worker's only child."""
    (child,) = Path(f"/proc/{worker}/task/{worker}/children").read_text(encoding="ascii").split()
    return int(child)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_worker_whose_engine_stops_or_dies_labels_every_word_once_without_a_restart(
    rehearsal: Rehearsal, number: signal.Signals
) -> None:
    rehearsal.follow("Before the first start", 0)
    with rehearsal.worker(settings={"CAESURA_WORKER_INFERENCE_DEADLINE_MS": "2000"}) as worker:
        rehearsal.say(*events(["call-0"], first=0, last=12, end=True))
        wait_for_ends(rehearsal, 1, worker)
        os.kill(engine_of(worker.process.pid), number)
        rehearsal.say(*events(["call-1"], first=0, last=12, end=True))
        wait_for_ends(rehearsal, 2, worker)
        worker.stop()
        assert worker.lines("failed") == []
    assert words_by_session(rehearsal.segments()) == whole(["call-0", "call-1"], 12)
    assert "fallback" not in {segment.cause for segment in rehearsal.segments()}
