"""SAPR: what it is taught to write, its steps one at a time and at once, and that its words are the input's."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from caesura.models.data.joint_marks import MAX_RUN
from caesura.models.data.packing import pack
from caesura.models.data.punctuated_sequences import punctuated
from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.constrained_decoder import ConstrainedDecoder, runs_of
from caesura.models.networks.ct_transformer import PADDING_WORD
from caesura.models.networks.sapr import SAPR, SAPRConfig
from caesura.models.training.loop import TrainingPlan, train
from caesura.worker.core.language.labelling import LabelRequest
from tests.harness.models.networks import VOCABULARY, document, tokenizer

pytestmark = pytest.mark.torch

RUNS = ((), (1,), (2,), (3,), (2, 4), (1, 4))
V = len(VOCABULARY)


def config(dropout: float = 0.0) -> SAPRConfig:
    return SAPRConfig(vocabulary_size=V, runs=RUNS, width=16, heads=2, inner_width=32, layers=2, dropout=dropout)


def source(words: list[int], *, pad_to: int = 0) -> tuple[Tensor, Tensor]:
    """Return pieces and word numbers of one row whose words have so many pieces each."""
    numbers = [0, *(k + 1 for k, size in enumerate(words) for _ in range(size))]
    pieces = [2, *((7 * place + 3 * len(words)) % (V - 3) + 3 for place in range(1, len(numbers)))]
    padding = max(pad_to - len(numbers), 0)
    return torch.tensor([pieces + [0] * padding]), torch.tensor([numbers + [PADDING_WORD] * padding])


def test_a_target_is_the_pieces_with_the_runs_between_them_and_the_labels_of_each_step() -> None:
    pieces, word_index = source([1, 2, 1], pad_to=7)
    a, b, c, d = pieces[0, 1:5].tolist()
    classes = torch.tensor([[-100, 4, -100, 0, -100, -100, -100]])
    target = punctuated(pieces, word_index, classes, config())
    full, quote, border, end = V + 1, V + 3, V + 4, 5
    assert target.words.tolist() == [[border, a, full, quote, b, c, d]]
    assert target.labels.tolist() == [[end, 0, 2, 4, 0, 0, 0]]
    assert target.next_words.tolist() == [[a, full, quote, b, c, d, border]]
    assert target.next_labels.tolist() == [[0, 2, 4, 0, 0, 0, -100]]  # what follows the last word nobody knows


def test_rows_of_other_lengths_are_padded_with_what_is_not_scored() -> None:
    (long, long_index), (short, short_index) = source([1, 1, 1]), source([1], pad_to=4)
    classes = torch.tensor([[-100, 0, 0, 2], [-100, 1, -100, -100]])
    target = punctuated(torch.cat([long, short]), torch.cat([long_index, short_index]), classes, config())
    assert target.next_labels.tolist() == [[0, 0, 0, 2, 5], [0, 1, 5, -100, -100]]
    assert (target.next_words[1, 3:] == -100).all()


def test_the_tables_of_source_and_target_begin_alike_and_each_learns_by_itself() -> None:
    network = SAPR(config())
    assert torch.equal(network.target_words.weight[:V], network.embedding.weight)
    with torch.no_grad():
        network.embedding.weight.add_(1)
    assert not torch.equal(network.target_words.weight[:V], network.embedding.weight)


def test_steps_one_at_a_time_say_what_all_of_them_say_at_once() -> None:
    torch.manual_seed(1)
    network = SAPR(config()).eval()
    pieces, word_index = source([1, 2, 1, 1])
    words, labels = torch.randint(0, V + 5, (1, 9)), torch.randint(0, 6, (1, 9))
    with torch.no_grad():
        whole = network.step(network.read(pieces, word_index), words, labels)
        memory = network.read(pieces, word_index)
        steps = [network.step(memory, words[:, [k]], labels[:, [k]]) for k in range(9)]
    assert torch.allclose(torch.cat(steps, dim=1), whole, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(1, 3), min_size=0, max_size=6), min_size=1, max_size=4),
    seed=st.integers(0, 10**6),
    loud=st.sampled_from([0.0, 1.0, 50.0, float("nan")]),
)
def test_what_it_writes_has_the_input_s_words_in_order_whatever_the_weights(
    rows: list[list[int]], seed: int, loud: float
) -> None:
    torch.manual_seed(seed)
    network = SAPR(config()).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights.normal_().mul_(loud)
    longest = max(sum(words) for words in rows) + 1
    batch = [source(words, pad_to=longest) for words in rows]
    pieces, word_index = (torch.cat([row[k] for row in batch]) for k in (0, 1))
    written = ConstrainedDecoder(network).write(pieces, word_index)
    for row, words in enumerate(rows):
        count, border = sum(words), network.config.border_word
        kept = [word for word in written[row].tolist() if word < V]
        assert kept == pieces[row, 1 : count + 1].tolist()
        runs = runs_of(written, network.config)[row]
        ends_word = {int(place) for place in torch.tensor([0, *words]).cumsum(0)[1:]}
        assert all(len(run) <= MAX_RUN for run in runs.values())
        assert {place for place, run in runs.items() if run} <= ends_word
        assert written[row, -1] == border


def test_runs_that_no_class_stands_for_score_as_their_longest_beginning() -> None:
    decoder = ConstrainedDecoder(SAPR(config()).eval())
    assert [decoder.class_of(run) for run in ((), (2,), (2, 4), (2, 4, 1), (4, 1), (1, 1))] == [0, 2, 4, 4, 0, 1]


def test_a_trained_sapr_labels_through_the_engine_that_the_others_have(tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = SAPR(SAPRConfig(vocabulary_size=V, width=32, heads=4, inner_width=64, layers=2))
    text = pack([document(80, seed=seed) for seed in range(4)], tokenizer())
    plan = TrainingPlan(max_words=20_000, leading=2, learning_rate=4e-3, max_pieces=300, threads=1)
    train(network, text, plan, tmp_path / "sapr.pt")
    engine = CheckpointEngine(network, VOCABULARY)
    held_out = document(30, seed=99)
    request = LabelRequest(
        session="a", model_id=engine.models[0].name, buffer_start=0, words=tuple(held_out.words[:80])
    )
    (labels,) = engine.label([request])
    right = sum(got == wanted for got, wanted in zip(labels.punctuation, held_out.punctuation, strict=False))
    assert right > 70
    assert set(labels.disfluency) == {0}
