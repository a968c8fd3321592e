"""The third head: exported where the network has it, compared by the gate, told by the manifest, read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest

pytest.importorskip("torch")

import torch

from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.labelling_runs import published_words
from caesura.models.export.parity import check_parity
from caesura.models.export.stored_network import read_network
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.schemas.labels import Casing
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.models.networks import LEADING, VOCABULARY, buffers, exported, tiny_config, tiny_network, tokenizer

pytestmark = pytest.mark.torch

CASINGS = tuple(casing.published for casing in Casing)


def with_head() -> CTTransformer:
    return tiny_network(replace(tiny_config(), casing_classes=len(Casing)))


def test_a_network_with_the_head_is_exported_with_it_and_says_so(tmp_path: Path) -> None:
    manifest = exported(with_head(), tmp_path / "en", int8=True)
    assert manifest.casing == CASINGS
    graph = onnx.load(str(tmp_path / "en" / manifest.weights)).graph
    assert [output.name for output in graph.output] == ["punctuation", "disfluency", "casing"]

    without = exported(tiny_network(), tmp_path / "other", int8=True)
    assert without.casing == ()
    graph = onnx.load(str(tmp_path / "other" / without.weights)).graph
    assert [output.name for output in graph.output] == ["punctuation", "disfluency"]


def test_the_gate_compares_three_heads_where_there_are_three(tmp_path: Path) -> None:
    network, words = with_head(), buffers(20)
    small, large = (exported(network, tmp_path / str(int8), int8=int8).weights for int8 in (True, False))
    parity = check_parity(network, tmp_path / "False" / large, tmp_path / "True" / small, words, tokenizer(), LEADING)
    assert parity.labels == 3 * parity.words == 3 * sum(map(len, words))
    assert parity.fp32_labels_differing == 0
    assert parity.int8_batch_labels_differing == 0


def test_the_gate_is_shut_where_the_third_head_says_another_thing(tmp_path: Path) -> None:
    network = with_head()
    weights = exported(network, tmp_path / "en", int8=False).weights
    with torch.no_grad():
        assert network.casing is not None
        network.casing.bias[:] = torch.tensor([9.0, 0, 0, 0])
    path = tmp_path / "en" / weights
    parity = check_parity(network, path, path, buffers(5), tokenizer(), LEADING)
    assert parity.failures

    two = exported(tiny_network(), tmp_path / "two", int8=False).weights
    with pytest.raises(ValueError, match="3 heads"):
        check_parity(network, tmp_path / "two" / two, path, buffers(5), tokenizer(), LEADING)


@pytest.mark.parametrize("int8", [True, False])
def test_a_stored_model_comes_back_with_its_third_head(int8: bool, tmp_path: Path) -> None:
    network = with_head()
    exported(network, tmp_path / "en", int8=int8)
    back = read_network(read_models_folder(tmp_path)[0])
    assert back.config.casing_classes == len(Casing)
    for part in ("weight", "bias"):
        assert torch.equal(back.state_dict()[f"casing.{part}"], network.state_dict()[f"casing.{part}"])


def test_what_a_checkpoints_third_head_says_is_published() -> None:
    network = with_head()
    with torch.no_grad():
        assert network.casing is not None
        network.casing.weight.zero_()
        network.casing.bias[:] = torch.tensor([0.0, 0, 0, 9])
    for one, casing in ((network, "all_capitals"), (tiny_network(), "as_given")):
        (words,) = published_words(CheckpointEngine(one, VOCABULARY), [["the", "cat", "saw", "it"]], language="en")
        assert [word.casing for word in words] == [casing] * 4
