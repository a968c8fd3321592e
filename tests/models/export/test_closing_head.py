"""A head of its own for the mark of a word that none follows: in the network, in the engine, and in a decoded text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.labelling_runs import published_words
from caesura.models.export.parity import encode
from caesura.models.networks.ct_transformer import CTTransformer, last_pieces
from caesura.schemas.labels import Casing, Punctuation
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from tests.harness.models.networks import LEADING, buffers, exported, tiny_config, tiny_network, tokenizer

pytestmark = pytest.mark.torch


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
def test_a_flush_freezes_what_it_says_and_words_in_a_running_text_what_the_other_says(
    tmp_path: Path, *, streams: bool
) -> None:
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
