"""What kills or stops the engine's process costs the batch it worked on, and never the worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from caesura.worker.adapters.onnx.child_engine import ChildEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError, FatalError
from caesura.worker.ports.observer import EngineRestarted
from tests.harness.deadly_process import PROGRAM
from tests.harness.heard import Heard
from tests.harness.in_memory_world import World
from tests.harness.places import ROOT
from tests.harness.speech import event, said

DEADLINE_S = 3.0
MODEL = "scripted-en@1"


def child(*, max_deaths: int = 5, limit_mib: int = 0, deadline_s: float = DEADLINE_S) -> ChildEngine:
    return ChildEngine(
        Path(),
        max_kept_bytes=0,
        limit_bytes=limit_mib * 2**20,
        deadline_s=deadline_s,
        max_deaths=max_deaths,
        run=PROGRAM,
    )


@pytest.fixture
def engine() -> Iterator[ChildEngine]:
    made = child()
    yield made
    made.close()


def asked(session: str, *words: str) -> LabelRequest:
    return LabelRequest(session=session, model_id=MODEL, buffer_start=0, words=words)


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("word", ["deadly", "hanging", "raising"])
def test_a_batch_that_takes_its_process_along_is_an_engine_error_and_the_next_one_is_labelled(
    engine: ChildEngine, word: str
) -> None:
    with pytest.raises(EngineError) as refused:
        engine.label([asked("ann", "so"), asked("ben", "a", word)])
    assert word not in str(refused.value)
    assert "text that may be" not in str(refused.value)
    (labels,) = engine.label([asked("ann", "so", "then")])
    assert len(labels) == 2
    assert engine.work.restarts == (0 if word == "raising" else 1)


def test_a_process_without_memory_left_ends_under_its_own_limit() -> None:
    engine = child(limit_mib=1200, deadline_s=30.0)
    with pytest.raises(EngineError):
        engine.label([asked("ann", "hungry")])
    assert len(engine.label([asked("ann", "so")])) == 1
    engine.close()


def test_a_process_that_was_killed_between_two_batches_is_replaced_and_no_batch_is_blamed(engine: ChildEngine) -> None:
    first = engine.pid
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert len(engine.label([asked("ann", "so")])) == 1
    assert (engine.pid == first, engine.work.restarts) == (False, 1)


def test_a_process_that_dies_again_and_again_ends_the_worker() -> None:
    engine = child(max_deaths=2)
    for number in range(2):
        with pytest.raises(EngineError):
            engine.label([asked(f"ann-{number}", "deadly"), asked(f"ben-{number}", "so")])
    with pytest.raises(FatalError, match="ended 3 times"):
        engine.label([asked("cy", "deadly"), asked("dee", "so")])
    engine.close()


def test_deaths_by_a_session_that_is_found_do_not_count() -> None:
    engine = child(max_deaths=3)
    for number in range(4):
        batch = [asked(f"ann-{number}", "deadly"), asked(f"ben-{number}", "so")]
        for tried in (batch, batch[:1], batch[:1]):
            with pytest.raises(EngineError):
                engine.label(tried)
        assert len(engine.label(batch[1:])) == 1
    assert engine.work.restarts == 12
    engine.close()


def test_the_process_ends_with_its_worker() -> None:
    program = (
        "import sys, time; from pathlib import Path; from tests.unit.adapters.onnx.test_child_engine import child\n"
        "engine = child(); print(engine.pid, flush=True); time.sleep(600)"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert worker.stdout is not None
    number = int(worker.stdout.readline())
    assert alive(number)
    worker.kill()
    worker.communicate()
    ends_at_s = time.monotonic() + 30.0
    while alive(number) and time.monotonic() < ends_at_s:
        time.sleep(0.05)
    assert not alive(number)


def test_a_session_that_kills_the_process_goes_out_unlabelled_and_the_others_labelled(engine: ChildEngine) -> None:
    world, restarted = World(), Heard(EngineRestarted)
    worker = world.worker(engine=engine, observer=restarted)
    world.send(
        event("ann", 0, "A", "deadly", "B", session_end=True),
        *(event(f"s{n}", 0, "C", session_end=True) for n in range(4)),
    )
    worker.settle()
    unlabelled = {segment.session for segment in world.segments() if segment.cause == "fallback"}
    assert unlabelled == {"ann"}
    assert sorted(said(world.segments())) == ["A", "B", "C", "C", "C", "C", "deadly"]
    assert sum(one.times for one in restarted.events) == 3
    assert world.records("asr.words.dead") == []
    worker.worker.drain()
