"""Train, export, check and serve a tiny network on made-up text: the whole path in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from caesura.models.data.packing import pack
from caesura.models.decoding.labelling_runs import label_offline, label_streams
from caesura.models.decoding.ways import offline_chunks
from caesura.models.export.parity import check_parity
from caesura.models.networks.checkpoints import load_network
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.pretrained import start_from_checkpoint
from caesura.models.training.loop import TrainingPlan, train
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from tests.harness.models.networks import LEADING, buffers, document, exported, tiny_config, tiny_network, tokenizer


def plan(max_words: int) -> TrainingPlan:
    return TrainingPlan(
        max_words=max_words, leading=LEADING, learning_rate=3e-3, max_pieces=1200, threads=1, checkpoint_s=0.0
    )


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_torch_fp32_and_int8_agree_and_int8_does_not_depend_on_the_batch(positions: str, tmp_path: Path) -> None:
    network = tiny_network(tiny_config(positions=positions))
    large = exported(network, tmp_path / "fp32", int8=False)
    small = exported(network, tmp_path / "int8", int8=True)
    parity = check_parity(
        network, tmp_path / "fp32" / large.weights, tmp_path / "int8" / small.weights, buffers(64), tokenizer(), LEADING
    )
    assert parity.words > 500
    assert parity.fp32_largest_difference < 1e-3
    assert parity.fp32_labels_differing == 0
    assert parity.int8_batch_labels_differing == 0
    assert parity.int8_labels_differing < 0.1 * parity.words  # random weights: many scores lie close together


def test_the_gate_shuts_where_the_exported_network_is_another_one(tmp_path: Path) -> None:
    ours, other = tiny_network(seed=1), tiny_network(seed=2)
    large, small = exported(other, tmp_path / "fp32", int8=False), exported(other, tmp_path / "int8", int8=True)
    parity = check_parity(
        ours, tmp_path / "fp32" / large.weights, tmp_path / "int8" / small.weights, buffers(16), tokenizer(), LEADING
    )
    assert parity.failures


def test_a_trained_network_passes_the_gate_and_labels_a_stream_through_the_core(tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = CTTransformer(tiny_config())
    text = pack([document(200, seed=seed) for seed in range(10)], tokenizer())
    train(network, text, plan(60_000), tmp_path / "checkpoint.pt")
    trained = load_network(tmp_path / "checkpoint.pt")
    large = exported(trained, tmp_path / "fp32", int8=False)
    small = exported(trained, tmp_path / "models" / "en", int8=True)
    files = tmp_path / "fp32" / large.weights, tmp_path / "models" / "en" / small.weights
    assert not check_parity(trained, *files, buffers(32), tokenizer(), LEADING).failures
    engine = OnnxEngine(tmp_path / "models", threads=1)
    held_out = document(100, seed=99)
    (marks, tags), *_ = label_streams(engine, [held_out.words, held_out.words[:50]], language="en")
    right = sum(got == wanted for got, wanted in zip(marks, held_out.punctuation, strict=True))
    assert right / len(marks) > 0.95
    assert [tag > 0 for tag in tags] == [tag > 0 for tag in held_out.disfluency]


def test_streaming_and_offline_label_every_word_once(tmp_path: Path) -> None:
    exported(tiny_network(), tmp_path / "en", int8=True)
    engine = OnnxEngine(tmp_path, threads=1)
    words = document(120).words
    streamed = label_streams(engine, [words], language="en")[0]
    offline = label_offline(engine, engine.models[0].name, words, cut=offline_chunks)
    assert len(words) > 450
    assert [len(part) for part in (*streamed, *offline)] == [len(words)] * 4


def test_an_interrupted_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    text = pack([document(200, seed=seed) for seed in range(4)], tokenizer())

    def trained(checkpoint: Path, *stops: int) -> CTTransformer:
        for stop in stops:
            torch.manual_seed(7)
            network = CTTransformer(tiny_config())
            steps = _Stopping(stop)
            try:
                train(steps.watch(network), text, plan(12_000), checkpoint)
            except KeyboardInterrupt:
                continue
        return load_network(checkpoint)

    whole = trained(tmp_path / "whole.pt", 10_000)
    resumed = trained(tmp_path / "resumed.pt", 5, 10_000)
    for name, tensor in whole.state_dict().items():
        assert torch.allclose(tensor, resumed.state_dict()[name], atol=1e-5), name


class _Stopping:
    """Interrupts a network's training, as a user would, after some forward passes."""

    def __init__(self, after: int) -> None:
        self._left = after

    def watch(self, network: CTTransformer) -> CTTransformer:
        network.register_forward_pre_hook(self._count)
        return network

    def _count(self, *_: object) -> None:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt


def test_the_engine_and_the_gate_read_words_alike(tmp_path: Path) -> None:
    exported(tiny_network(), tmp_path / "en", int8=False)
    engine = OnnxEngine(tmp_path, threads=1)
    request = LabelRequest(session="one", model_id="tiny@1", buffer_start=0, words=("", "cafe", "the", "\u4e2d\u6587"))
    assert len(engine.label([request])[0].punctuation) == 4


def test_a_new_run_starts_from_what_an_earlier_one_learned(tmp_path: Path) -> None:
    text = pack([document(60, seed=1)], tokenizer())
    train(tiny_network(seed=1), text, plan(200), tmp_path / "earlier.pt")
    learned, started = load_network(tmp_path / "earlier.pt"), tiny_network(seed=2)
    start_from_checkpoint(started, tmp_path / "earlier.pt")
    for name, weights in learned.state_dict().items():
        assert torch.equal(started.state_dict()[name], weights), name
    train(started, text, plan(400), tmp_path / "later.pt")  # a plan of its own, from its first step
    assert not torch.equal(started.punctuation.weight, learned.punctuation.weight)


def test_a_watch_sees_the_labelling_network_and_ends_the_training(tmp_path: Path) -> None:
    text = pack([document(60, seed=1)], tokenizer())
    network = CTTransformer(tiny_config())
    seen: list[tuple[bool, bool, float]] = []

    def enough(watched: CTTransformer, share: float) -> bool:
        seen.append((watched.training, (tmp_path / "checkpoint.pt").exists(), share))
        return len(seen) == 2

    train(network, text, plan(100_000), tmp_path / "checkpoint.pt", watch=enough)
    assert [sight[:2] for sight in seen] == [(False, True)] * 2
    assert 0 < seen[0][2] < seen[1][2] < 1
    assert network.training
    for name, weights in load_network(tmp_path / "checkpoint.pt").state_dict().items():
        assert torch.equal(network.state_dict()[name], weights), name
