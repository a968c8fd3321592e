"""An exported model comes back as the network it was: a tune can begin at the shipped weights."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
import torch

from caesura.models.decoding.labelling_runs import published_words
from caesura.models.export.parity import INT8_AGREEMENT, check_parity, encode
from caesura.models.export.stored_network import read_network
from caesura.models.networks.dequantisation import initialisers
from caesura.schemas.labels import Casing
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import FatalError
from caesura.worker.inference.attention.compiled_attention import COMPILED
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder
from caesura.worker.inference.model.wordpiece import WordPiece
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from tests.harness.models.networks import LEADING, WORDS, buffers, exported, tiny_config, tiny_network, tokenizer
from tests.harness.places import SHIPPED
from tests.harness.shipped_models import one_model


def stored(folder: Path) -> StoredModel:
    return read_models_folder(folder)[0]


def wordpiece(model: StoredModel) -> WordPiece:
    settings = model.manifest.wordpiece
    return WordPiece(model.vocabulary(), max_pieces=settings.max_pieces, unknown=settings.unknown)


@pytest.mark.parametrize(
    ("positions", "look_back", "closing", "version"),
    [("sinusoidal", None, False, "1.2"), ("learned", 7, False, "2.0"), ("learned", None, True, "3.0")],
)
def test_an_fp32_export_comes_back_as_the_very_weights(
    positions: str, look_back: int | None, version: str, tmp_path: Path, *, closing: bool
) -> None:
    network = tiny_network(replace(tiny_config(positions=positions), look_back=look_back, closing=closing))
    assert exported(network, tmp_path / "en", int8=False).manifest == version, "what older workers would run wrongly"
    back = read_network(stored(tmp_path))
    assert replace(back.config, max_positions=64) == network.config  # waves have no last position to be stored
    for name, weights in network.state_dict().items():
        assert torch.equal(back.state_dict()[name], weights), name


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_an_int8_export_that_comes_back_is_exported_as_the_same_numbers(positions: str, tmp_path: Path) -> None:
    first = exported(tiny_network(tiny_config(positions=positions)), tmp_path / "first" / "en", int8=True)
    again = exported(read_network(stored(tmp_path / "first")), tmp_path / "again" / "en", int8=True)
    before = initialisers(tmp_path / "first" / "en" / first.weights)
    after = initialisers(tmp_path / "again" / "en" / again.weights)
    assert before.keys() == after.keys()
    assert sum(name.endswith(".int8") for name in before) == 1 + 4 * 3
    for name, array in before.items():
        if array.dtype == np.float32:
            assert np.allclose(array, after[name], rtol=1e-6, atol=0), name
        else:
            assert np.array_equal(array, after[name]), name


@pytest.mark.parametrize("closing", [False, True])
def test_what_comes_back_passes_the_gate_with_the_export_it_came_from(tmp_path: Path, *, closing: bool) -> None:
    network = tiny_network(replace(tiny_config(), closing=closing))
    small = exported(network, tmp_path / "int8" / "en", int8=True)
    back = read_network(stored(tmp_path / "int8"))
    large = exported(back, tmp_path / "fp32", int8=False)
    parity = check_parity(
        back,
        tmp_path / "fp32" / large.weights,
        tmp_path / "int8" / "en" / small.weights,
        buffers(64),
        tokenizer(),
        LEADING,
    )
    assert parity.fp32_largest_difference < 1e-3
    assert parity.fp32_labels_differing == parity.int8_batch_labels_differing == 0
    assert parity.int8_labels_differing < 0.1 * parity.words  # random weights: many scores lie close together


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_weights_come_back_and_label_as_the_worker_does(language: str) -> None:
    shipped = next(model for model in read_models_folder(SHIPPED) if model.manifest.language == language)
    network, engine = read_network(shipped), OnnxEngine(one_model(shipped.manifest.name), threads=1)
    texts = {
        "en": "so i think we should wait until friday do you know when they open no idea but i can ask them uh today",
        "zh": "我 觉得 我们 应该 等到 星期五 你 知道 他们 什么 时候 开门 吗 不 知道 不过 我 可以 嗯 我 可以 问 一下",
    }
    words = texts[language].split()
    given = [words[:size] for size in range(3, len(words) + 1, 3)]
    cut = wordpiece(shipped)
    pieces, word_index, last = encode(given, cut, cut.number(shipped.manifest.wordpiece.leading))
    with torch.no_grad():
        scores = network(torch.from_numpy(pieces), torch.from_numpy(word_index))
    requests = [
        LabelRequest(session="one", model_id=shipped.manifest.name, buffer_start=0, words=tuple(w)) for w in given
    ]
    same = total = 0
    for row, labels in enumerate(engine.label(requests)):
        heads = (labels.punctuation, labels.disfluency, *((labels.casing,) if labels.casing else ()))
        for ours, theirs in zip(scores, heads, strict=True):
            wanted = ours[row, last[row]].argmax(-1).tolist()
            same += sum(one == other for one, other in zip(wanted, theirs, strict=True))
            total += len(wanted)
    assert same >= INT8_AGREEMENT * total


def test_a_training_start_lies_within_half_a_step_of_stored_numbers(tmp_path: Path) -> None:
    exported(tiny_network(), tmp_path / "en", int8=True)
    model = stored(tmp_path)
    exact, moved = read_network(model).state_dict(), read_network(model, off_grid_seed=1).state_dict()
    again, other = (read_network(model, off_grid_seed=seed).state_dict() for seed in (1, 2))
    for name, weights in exact.items():
        assert torch.equal(moved[name], again[name]), name
        quantised = name == "embedding.weight" or (name.startswith("layers.") and weights.dim() == 2)
        assert quantised == (not torch.equal(moved[name], weights)), name
        assert quantised == (not torch.equal(moved[name], other[name])), name
        if quantised:
            steps = weights.abs().amax(dim=1, keepdim=True) / (127 if name.startswith("embedding") else 63)
            assert float(((moved[name] - weights).abs() / steps).max()) <= 0.501, name


def test_another_programs_onnx_is_refused_by_name(tmp_path: Path) -> None:
    manifest = exported(tiny_network(), tmp_path / "en", int8=True)
    model = onnx.load(str(tmp_path / "en" / manifest.weights))
    del model.graph.initializer[:]
    onnx.save(model, str(tmp_path / "en" / manifest.weights))
    with pytest.raises(FatalError, match="was not written by models/export"):
        read_network(StoredModel(folder=tmp_path / "en", manifest=manifest))


def test_another_kind_of_network_is_refused(tmp_path: Path) -> None:
    manifest = exported(tiny_network(), tmp_path / "en", int8=True)
    other = msgspec.structs.replace(manifest, network="blstm")
    with pytest.raises(FatalError, match="is a blstm"):
        read_network(StoredModel(folder=tmp_path / "en", manifest=other))


TOLERANCE = 0.25
"""docs/engine.md; in whole numbers a rounding may fall on the other side."""


@pytest.mark.parametrize(
    ("look_ahead", "look_back", "positions", "int8"),
    [
        ((0, 1, 2), None, "sinusoidal", True),
        ((0, 1, 2), 5, "learned", True),
        ((0, 1, 2), None, "learned", False),
        ((0, 0, 0), 1, "sinusoidal", True),
        ((3,), 20, "learned", True),
        ((3,), 20, "sinusoidal", False),
    ],
)
@pytest.mark.parametrize("compiled", [COMPILED, False] if COMPILED else [False])
def test_a_network_streams_as_its_full_run_past_learnt_positions(
    look_ahead: tuple[int, ...], look_back: int | None, positions: str, int8: bool, tmp_path: Path, *, compiled: bool
) -> None:
    config = replace(
        tiny_config(look_ahead=look_ahead, positions=positions),
        heads=2,  # wide enough for what is compiled
        casing_classes=len(Casing),
        look_back=look_back,
    )
    name = exported(tiny_network(config), tmp_path / "en", int8=int8).name
    streamed = OnnxEngine(tmp_path, threads=1, compiled=CompiledKernels.ALL if compiled else CompiledKernels.NONE)
    whole = OnnxEngine(tmp_path, threads=1, streams=False)
    rng = random.Random(1)
    words = tuple(rng.choice((*WORDS, "abba", "zzz", "", "cab'")) for _ in range(config.max_positions + 30))
    settled = 0
    for size in range(2, len(words), 3):
        request = LabelRequest(session="one", model_id=name, buffer_start=0, words=words[:size], first=settled)
        (found,), (wanted,) = streamed.score([request]), whole.score([request])
        assert len(found) == len(wanted) == 3
        for one, other in zip(found, wanted, strict=True):
            assert np.abs(one - other).max() < (TOLERANCE if int8 else 1e-4)
        settled = max(0, size - sum(look_ahead))
    assert streamed.work.begun_buffers == 1


@pytest.mark.parametrize("streams", [True, False])
def test_casing_is_published_only_by_models_with_a_casing_head(streams: bool, tmp_path: Path) -> None:
    network = tiny_network(replace(tiny_config(), casing_classes=len(Casing)))
    with torch.no_grad():
        assert network.casing is not None
        network.casing.weight.zero_()
        network.casing.bias[:] = torch.tensor([0.0, 0, 0, 9])
    exported(network, tmp_path / "three" / "en", int8=True)
    exported(tiny_network(), tmp_path / "two" / "en", int8=True)
    for models, casing in (("three", "all_capitals"), ("two", "as_given")):
        engine = OnnxEngine(tmp_path / models, threads=1, streams=streams)
        (words,) = published_words(engine, [["the", "cat", "saw", "it"] * 6], language="en")
        assert [word.casing for word in words] == [casing] * 24
