"""A head of its own for the mark of a word that none follows: in the network, in the engine, and in a decoded text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.labelling_runs import published_words
from caesura.models.export.parity import check_parity, encode
from caesura.models.export.stored_network import read_network
from caesura.models.networks.ct_transformer import CTTransformer, last_pieces
from caesura.schemas.labels import Casing, Punctuation
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.models.networks import LEADING, VOCABULARY, buffers, exported, tiny_config, tiny_network, tokenizer


def deciding(*, casing: bool = True) -> CTTransformer:
    """Return a network that says comma of every word, and question of one that none follows."""
    network = tiny_network(replace(tiny_config(), closing=True, casing_classes=len(Casing) * casing))
    assert network.closing is not None
    with torch.no_grad():
        for head, mark in ((network.punctuation, Punctuation.COMMA), (network.closing, Punctuation.QUESTION)):
            head.weight.zero_()
            head.bias[mark] = 9.0
    return network


def test_the_last_piece_of_each_sample_is_found_under_any_padding() -> None:
    _, word_index, last = encode([["the", "cats"], ["it"], ["the", "cat", "saw", "zzz"]], tokenizer(), LEADING)
    found = last_pieces(torch.from_numpy(word_index))
    assert found.sum() == 3
    assert [row.nonzero().tolist() for row in found] == [[[places[-1]]] for places in last]
    assert not last_pieces(torch.tensor([[0]])).any(), "a leading piece is no word"


def test_the_closing_head_speaks_of_a_samples_last_word_alone() -> None:
    config = tiny_config()
    network = tiny_network(replace(config, closing=True))
    pieces, word_index, last = encode([*buffers(1), ["it", "saw"]], tokenizer(), LEADING)
    with torch.inference_mode():
        given = (torch.from_numpy(pieces), torch.from_numpy(word_index))
        marks, hidden = network(*given)[0], network.encode(*given)
        assert network.closing is not None
        own, other = network.punctuation(hidden), network.closing(hidden)
    for row, places in enumerate(last):
        torch.testing.assert_close(marks[row, places[:-1]], own[row, places[:-1]])
        torch.testing.assert_close(marks[row, places[-1]], other[row, places[-1]])


@pytest.mark.parametrize("casing", [True, False])
@pytest.mark.parametrize("streams", [True, False])
def test_an_engine_asks_it_of_the_buffers_last_word_and_of_no_other(
    tmp_path: Path, *, streams: bool, casing: bool
) -> None:
    name = exported(deciding(casing=casing), tmp_path / "en", int8=True).name
    engine = OnnxEngine(tmp_path, threads=1, streams=streams)
    words = ("the", "cat", "saw", "it")
    requests = [
        LabelRequest(session=f"{first} {end}", model_id=name, buffer_start=0, words=words, first=first, end=end)
        for first, end in ((0, None), (0, 3), (3, 4), (1, 2))
    ]
    comma, question = Punctuation.COMMA.value, Punctuation.QUESTION.value
    together = [list(labels.punctuation) for labels in engine.label(requests)]
    assert together == [[comma, comma, comma, question], [comma] * 3, [question], [comma]]
    scored = engine.score(requests[:1])
    before = [heads.copy() for heads in scored[0]]
    engine.labels(requests[:1], scored)
    assert all(np.array_equal(one, other) for one, other in zip(before, scored[0], strict=True)), "scores are kept"


@pytest.mark.parametrize("streams", [True, False])
def test_a_flush_uses_its_own_head_and_running_text_the_other(tmp_path: Path, *, streams: bool) -> None:
    exported(deciding(), tmp_path / "en", int8=True)
    engine = OnnxEngine(tmp_path, threads=1, streams=streams)
    (words,) = published_words(engine, [["the", "cat", "saw", "it"] * 6], language="en")
    assert [word.punctuation for word in words] == ["comma"] * 23 + ["question"]


def test_a_checkpoint_labels_as_its_export() -> None:
    network = tiny_network(replace(tiny_config(), closing=True))
    engine = CheckpointEngine(deciding(), tokenizer().vocabulary)
    requests = [
        LabelRequest(session="one", model_id=engine.models[0].name, buffer_start=0, words=("the", "cat"), end=end)
        for end in (1, 2)
    ]
    assert [list(labels.punctuation) for labels in engine.label(requests)] == [[1], [1, 3]]
    assert network.config.closing


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


def test_a_checkpoints_casing_head_is_published() -> None:
    network = with_head()
    with torch.no_grad():
        assert network.casing is not None
        network.casing.weight.zero_()
        network.casing.bias[:] = torch.tensor([0.0, 0, 0, 9])
    for one, casing in ((network, "all_capitals"), (tiny_network(), "as_given")):
        (words,) = published_words(CheckpointEngine(one, VOCABULARY), [["the", "cat", "saw", "it"]], language="en")
        assert [word.casing for word in words] == [casing] * 4
