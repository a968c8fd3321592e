"""A network of any kind behind the port of the engine, and through the same decoding."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.labelled_stream import WatchedEngine, run_stream
from caesura.models.evaluation.stability import growing_input
from caesura.models.networks.blstm import BLSTM, BLSTMConfig
from caesura.models.networks.checkpoints import write_checkpoint
from caesura.models.networks.full_transformer import FullTransformer
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import NO_OFFSETS, LabelRequest, ScoreOffsets
from caesura.worker.errors import FatalError
from tests.harness.models.networks import VOCABULARY, buffers, document, exported, tiny_config, tiny_network

pytestmark = pytest.mark.torch


def requests(model: str, offsets: ScoreOffsets = NO_OFFSETS) -> list[LabelRequest]:
    return [
        LabelRequest(session=str(number), model_id=model, buffer_start=0, words=tuple(words), offsets=offsets)
        for number, words in enumerate(buffers(40))
    ]


@pytest.mark.parametrize("sentence_end", [0.0, 1.5, math.inf])
def test_a_checkpoint_labels_as_its_export_does(tmp_path: Path, sentence_end: float) -> None:
    offsets = ScoreOffsets(sentence_end=sentence_end)
    network = tiny_network()
    exported(network, tmp_path / "en", int8=False)
    ours, theirs = CheckpointEngine(network, VOCABULARY), OnnxEngine(tmp_path, threads=1)
    pairs = zip(ours.label(requests("ct@checkpoint", offsets)), theirs.label(requests("tiny@1", offsets)), strict=True)
    assert all(one == other for one, other in pairs)


def test_a_network_that_looks_nine_words_ahead_changes_no_label_farther_back_and_one_that_sees_all_does() -> None:
    words = [document(60).words[:60]]
    masked, full = tiny_network(tiny_config(look_ahead=(2, 3, 4))), FullTransformer(tiny_config())
    full.load_state_dict(masked.state_dict())
    assert max(growing_input(CheckpointEngine(masked, VOCABULARY), "ct@checkpoint", words)[0]) <= 9
    assert max(growing_input(CheckpointEngine(full, VOCABULARY), "full@checkpoint", words)[0]) > 9


def test_a_checkpoint_file_of_an_lstm_decodes_a_stream(tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = BLSTM(BLSTMConfig(vocabulary_size=len(VOCABULARY), width=16, hidden=16, layers=2))
    write_checkpoint(tmp_path / "blstm.pt", network, {})
    (tmp_path / "vocabulary.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    engine = CheckpointEngine.of(tmp_path / "blstm.pt", tmp_path / "vocabulary.txt")
    words = document(20).words
    assert len(run_stream(WatchedEngine(engine), words).marks) == len(words)


def test_another_model_is_refused() -> None:
    with pytest.raises(FatalError, match="ct@checkpoint"):
        CheckpointEngine(tiny_network(), VOCABULARY).label(requests("other@1"))


@pytest.mark.parametrize("quick", [False, True])
def test_a_quick_engine_computes_in_bfloat16_where_this_machine_has_it_and_another_in_float32(quick: bool) -> None:
    network, computed = tiny_network(), set[torch.dtype]()

    def note(module: torch.nn.Module, given: object, result: torch.Tensor) -> None:  # noqa: ARG001
        computed.add(result.dtype)

    for part in network.modules():
        if isinstance(part, torch.nn.Linear):
            part.register_forward_hook(note)
    CheckpointEngine(network, VOCABULARY, quick=quick).label(requests("ct@checkpoint"))
    at_hand = quick and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    assert computed == ({torch.bfloat16} if at_hand else {torch.float32})
