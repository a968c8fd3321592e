"""Weights in int8 that some processors multiply wrongly: right in a stream, and doubted in a file's own graph."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import caesura
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.app import log_accuracy_warnings
from caesura.worker.commands.check import _models
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.network import saturation
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from caesura.worker.inference.network.graph_file import Array, GraphWriter, Shaped
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.telemetry.log import make_log
from tests.harness.places import SHIPPED
from tests.harness.terminal import Terminal
from tests.unit.inference.foreign_network import arrays, network
from tests.unit.inference.model_files import model

WORDS = ("a", "b", "b", "a", "a", "b", "a")
FLAGS = Path("/proc/cpuinfo")


def scores_of(folder: Path) -> list[Array]:
    engine = OnnxEngine(folder, threads=1, compiled=CompiledKernels.NONE)
    (scores,) = engine.score([LabelRequest(session="one", model_id="en@1", buffer_start=0, words=WORDS)])
    return list(scores)


def test_rescaled_weights_give_the_same_scores_on_every_kernel(
    tmp_path: Path,
) -> None:
    halved = arrays(largest=63)
    doubled = dict(halved)
    for name in halved:
        if name.startswith("layers.") and name.endswith(".int8"):
            scale = name.replace(".int8", ".scale")
            doubled[name] = (halved[name].astype(np.int16) * np.int16(2)).astype(np.int8)
            doubled[scale] = halved[scale].astype(np.float32) / np.float32(2)
    network(tmp_path / "halved", halved)
    network(tmp_path / "doubled", doubled)
    for one, other in zip(scores_of(tmp_path / "halved"), scores_of(tmp_path / "doubled"), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("largest", "large"), [(64, False), (65, True), (127, True), (128, True)])
def test_weights_are_too_large_beyond_64(largest: int, *, large: bool) -> None:
    weights = np.zeros((4, 4), np.int8)
    weights[1, 2] = -largest
    assert saturation.too_large(weights) is large
    assert not saturation.too_large(weights.astype(np.float32))


@pytest.mark.skipif(not FLAGS.exists() or "avx2" not in FLAGS.read_text(encoding="utf-8"), reason="no AVX2 is told of")
def test_what_is_asked_of_onnx_runtime_says_what_the_processors_flags_do() -> None:
    assert saturation.saturates() is ("vnni" not in FLAGS.read_text(encoding="utf-8"))


def whole_buffers(folder: Path, largest: int) -> RuntimeSettings:
    """Write a network that is no stream, its one product of weights up to ``largest``; return a worker's settings."""
    graph = GraphWriter()
    pieces = graph.add("Cast", graph.add("Unsqueeze", "pieces", graph.integers(2)), to=2)
    outputs: dict[str, Shaped] = {}
    for head, classes in (("punctuation", 4), ("disfluency", 5)):
        weights = graph.constant(f"{head}.weights", np.full((1, classes), largest, np.int8))
        graph.add("Cast", graph.add("MatMulInteger", pieces, weights), output=head, to=1)
        outputs[head] = (np.float32, ("B", "S", classes))
    inputs: dict[str, Shaped] = dict.fromkeys(("pieces", "word_index"), (np.int64, ("B", "S")))
    graph.constant("embedding.int8", np.full((4, 4), 127, np.int8))  # multiplied by nothing
    model(folder, network_file=graph.model(inputs, outputs), network="another")
    return RuntimeSettings(models_dir=str(folder))


@pytest.mark.parametrize(("largest", "saturates", "doubted"), [(65, True, True), (65, False, False), (64, True, False)])
def test_check_and_log_warn_of_a_network_computed_wrongly_here(
    largest: int, saturates: bool, doubted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saturation, "saturates", lambda: saturates)
    settings = whole_buffers(tmp_path, largest)
    findings = [one.reason for one in _models(settings) if one.verdict == "warning"]
    lines = io.StringIO()
    log_accuracy_warnings(OnnxEngine(Path(settings.models_dir), threads=1).doubts, make_log(lines))
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert len(findings) == len(logged) == doubted
    for told in (*findings, *(line["detail"] for line in logged)):
        assert "its weights punctuation.weights in int8 pass over 64" in told
    assert all(
        (line["event"], line["level"], line["model"]) == ("model_accuracy_warning", "warning", "en@1")
        for line in logged
    )


@pytest.mark.parametrize("saturates", [True, False])
def test_punctuate_and_the_library_tell_of_it_too(
    saturates: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    monkeypatch.setattr(saturation, "saturates", lambda: saturates)
    folder, text = tmp_path / "models", tmp_path / "text"
    whole_buffers(folder, 65)
    text.write_text("", encoding="utf-8")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        caesura.load("en", models=folder)
    done = terminal.run("punctuate", str(text), "--set", f"worker.models_dir={folder}")
    assert (done.status, done.out) == (0, "")
    lines = [line for line in done.err.splitlines() if line.startswith("caesura: ")]
    assert len(warned) == len(lines) == saturates
    for told in (*(str(one.message) for one in warned), *lines):
        assert "model en@1: its weights punctuation.weights in int8 pass over 64" in told
    assert all(one.filename == __file__ for one in warned)


@pytest.mark.slow
def test_no_shipped_model_gets_an_accuracy_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saturation, "saturates", lambda: True)
    for streams in (True, False):
        engine = OnnxEngine(SHIPPED, threads=1, streams=streams)
        assert engine.doubts == {}
