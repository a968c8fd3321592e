"""The engine on the shipped weights, as a stream and over whole buffers: what an answer may depend on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from caesura.schemas.labels import Labels
from caesura.worker.adapters.onnx.child_engine import ChildEngine
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError, FatalError
from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.network import full_network
from caesura.worker.inference.network.full_network import PADDING_WORD
from caesura.worker.inference.network.row_network import RowNetwork, RowStep
from caesura.worker.ports.observer import EngineRestarted
from tests.harness.deadly_process import PROGRAM
from tests.harness.heard import Heard
from tests.harness.in_memory_world import World
from tests.harness.places import ROOT, SHIPPED
from tests.harness.shipped_models import ENGLISH, one_model
from tests.harness.speech import event, said

pytestmark = pytest.mark.slow

# ruff: noqa: SIM905 - a list of words reads best as words


WORDS = (
    "so we went down to the old harbour and uh you know the boats were all gone then my brother said where did "
    "they go i mean it was only five o'clock and nobody had told us anything about it don't you think that's odd "
    "café 3.5 u.s antidisestablishmentarianism"
).split()


@pytest.fixture(scope="module", params=["streams", "whole buffers"])
def engine(request: pytest.FixtureRequest) -> OnnxEngine:
    return OnnxEngine(one_model(ENGLISH), threads=1, streams=request.param == "streams")


def request(engine: OnnxEngine, words: Sequence[str], *, session: str = "one") -> LabelRequest:
    return LabelRequest(session=session, model_id=engine.models[0].name, buffer_start=0, words=tuple(words))


def mixed_buffers(count: int, *, seed: int = 1) -> list[list[str]]:
    rng = random.Random(seed)
    return [[rng.choice(WORDS) for _ in range(rng.randint(1, 90))] for _ in range(count)]


class _Scores:
    """A stand-in for ONNX Runtime's session that answers what it is told to."""

    def __init__(self, punctuation: float = 0.0, *, classes: int = 4, fails: bool = False) -> None:
        self._punctuation = punctuation
        self._classes = classes
        self._fails = fails
        self.shapes: list[tuple[int, ...]] = []

    def run(self, _: list[str], feed: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        if self._fails:
            raise RuntimeError("the canary word sings")
        shape = feed["pieces"].shape
        self.shapes.append(shape)
        punctuation = np.full((*shape, self._classes), self._punctuation, dtype=np.float32)
        return [punctuation, *(np.zeros((*shape, classes), dtype=np.float32) for classes in (5, 4, 4))]


def engine_that_scores(scores: _Scores, monkeypatch: pytest.MonkeyPatch, *, max_batch_pieces: int = 4096) -> OnnxEngine:
    monkeypatch.setattr(full_network, "open_graph", lambda *_: scores)
    return OnnxEngine(one_model(ENGLISH), threads=1, streams=False, max_batch_pieces=max_batch_pieces)


def test_an_empty_view_and_a_very_long_word_are_labelled_too(engine: OnnxEngine) -> None:
    labels = engine.label([request(engine, ["", "x" * 64, "'" * 60, "\u4f60\u597d", ""])])[0]
    assert len(labels.punctuation) == len(labels.disfluency) == 5


def test_a_buffer_larger_than_the_bound_on_a_batch_runs_alone(engine: OnnxEngine) -> None:
    small = OnnxEngine(one_model(ENGLISH), threads=1, max_batch_pieces=64, max_pass_rows=10)
    requests = [request(engine, words) for words in ([*WORDS] * 3, WORDS[:4], WORDS[:5])]
    assert [len(one) for one in small.label(requests)] == [len(one.words) for one in requests]
    assert small.label(requests[1:]) == engine.label(requests[1:])


def test_a_pass_takes_no_more_sessions_once_its_pieces_reach_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = OnnxEngine(one_model(ENGLISH), threads=1, max_pass_rows=300)
    passes: list[int] = []
    run = RowNetwork.run

    def counted(network: RowNetwork, batch: Sequence[RowStep]) -> list[Rows]:
        passes.append(sum(len(one.pieces) for one in batch))
        return run(network, batch)

    monkeypatch.setattr(RowNetwork, "run", counted)
    long_word = "0f9c27b1e5d3084a6c1f2e9b7d5a3c80"
    engine.label([request(engine, [long_word] * 10, session=f"{name}") for name in range(20)])
    of_one = sum(passes) // 20
    assert of_one > 70, "a word of digits is eight pieces"
    assert max(passes) < 300 + of_one


def test_rows_that_wait_count_against_the_bound_on_a_pass_as_new_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = OnnxEngine(one_model(ENGLISH), threads=1, max_pass_rows=36)
    sessions: list[int] = []
    run = RowNetwork.run

    def counted(network: RowNetwork, batch: Sequence[RowStep]) -> list[Rows]:
        sessions.append(len(batch))
        return run(network, batch)

    monkeypatch.setattr(RowNetwork, "run", counted)
    look_ahead = engine.models[0].look_ahead_words
    for words in range(1, 2 * look_ahead):
        sessions.clear()
        asked = request(engine, ["so"] * words)
        first = max(words - 1 - look_ahead, 0)
        engine.label([msgspec.structs.replace(asked, session=f"{name}", first=first) for name in range(40)])
        rows = min(words + 1, look_ahead + 1)  # the leading piece's waits, too, until a word's is final behind it
        assert sessions[0] == -(-36 // rows), f"each has {rows} rows of {words} words"


def test_runs_stay_within_the_bound_and_pad_little(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = _Scores()
    engine = engine_that_scores(scores, monkeypatch, max_batch_pieces=512)
    requests = [request(engine, words) for words in mixed_buffers(100, seed=3)]
    engine.label(requests)
    assert all(rows * length <= 512 for rows, length in scores.shapes)
    alone = engine_that_scores(_Scores(), monkeypatch)
    (network,) = [one for name, one in alone._networks.items() if name == requests[0].model_id]
    assert isinstance(network, full_network.FullNetwork)
    pieces = sum(len(network._encode(one).pieces) for one in requests)
    assert sum(rows * length for rows, length in scores.shapes) < 1.3 * pieces


def test_scores_that_are_not_finite_are_an_error_and_no_label(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_that_scores(_Scores(float("nan")), monkeypatch)
    with pytest.raises(EngineError, match="not finite"):
        engine.label([request(engine, ["yes"])])


def test_scores_of_another_shape_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_that_scores(_Scores(classes=7), monkeypatch)
    with pytest.raises(EngineError, match="shape"):
        engine.label([request(engine, ["yes"])])


def test_a_failed_inference_is_named_without_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_that_scores(_Scores(fails=True), monkeypatch)
    with pytest.raises(EngineError, match="RuntimeError") as caught:
        engine.label([request(engine, ["canary"])])
    assert "canary" not in str(caught.value)
    with pytest.raises(FatalError, match="cannot run"):
        engine.warm_up()


def test_the_engine_says_what_it_serves() -> None:
    engine = OnnxEngine(SHIPPED, threads=1)
    engine.warm_up()
    engine.forget("nobody")
    served = {model.name.partition("@")[0]: (model.active, model.look_ahead_words) for model in engine.models}
    assert (served["en-ct-12x384"], served["en-ct-3x384"]) == ((True, 6), (False, 6))
    assert isinstance(engine.label([request(engine, ["yes"])])[0], Labels)


def test_padding_is_numbered_past_any_word() -> None:
    assert PADDING_WORD > 100_000


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
def child_engine() -> Iterator[ChildEngine]:
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
def test_a_batch_that_kills_its_process_fails_and_the_next_is_labelled(child_engine: ChildEngine, word: str) -> None:
    with pytest.raises(EngineError) as refused:
        child_engine.label([asked("ann", "so"), asked("ben", "a", word)])
    assert word not in str(refused.value)
    assert "text that may be" not in str(refused.value)
    (labels,) = child_engine.label([asked("ann", "so", "then")])
    assert len(labels) == 2
    assert child_engine.work.restarts == (0 if word == "raising" else 1)


def test_a_process_without_memory_left_ends_under_its_own_limit() -> None:
    child_engine = child(limit_mib=1200, deadline_s=30.0)
    with pytest.raises(EngineError):
        child_engine.label([asked("ann", "hungry")])
    assert len(child_engine.label([asked("ann", "so")])) == 1
    child_engine.close()


def test_a_process_killed_between_batches_is_replaced_without_blame(
    child_engine: ChildEngine,
) -> None:
    first = child_engine.pid
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert len(child_engine.label([asked("ann", "so")])) == 1
    assert (child_engine.pid == first, child_engine.work.restarts) == (False, 1)


def test_a_process_that_dies_again_and_again_ends_the_worker() -> None:
    child_engine = child(max_deaths=2)
    for number in range(2):
        with pytest.raises(EngineError):
            child_engine.label([asked(f"ann-{number}", "deadly"), asked(f"ben-{number}", "so")])
    with pytest.raises(FatalError, match="ended 3 times"):
        child_engine.label([asked("cy", "deadly"), asked("dee", "so")])
    child_engine.close()


def test_deaths_by_a_session_that_is_found_do_not_count() -> None:
    child_engine = child(max_deaths=3)
    for number in range(4):
        batch = [asked(f"ann-{number}", "deadly"), asked(f"ben-{number}", "so")]
        for tried in (batch, batch[:1], batch[:1]):
            with pytest.raises(EngineError):
                child_engine.label(tried)
        assert len(child_engine.label(batch[1:])) == 1
    assert child_engine.work.restarts == 12
    child_engine.close()


def test_the_process_ends_with_its_worker() -> None:
    program = (
        "import sys, time; from pathlib import Path; from tests.unit.adapters.onnx.test_engine import child\n"
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


def test_a_session_that_kills_the_process_goes_out_unlabelled_alone(
    child_engine: ChildEngine,
) -> None:
    world, restarted = World(), Heard(EngineRestarted)
    worker = world.worker(engine=child_engine, observer=restarted)
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
