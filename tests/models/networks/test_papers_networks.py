"""Task-dependency attention, Word-CNN and T-BRNN: shapes, what they see, and that they learn."""

from __future__ import annotations

import random
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from caesura.models.data.joint_marks import MAX_RUN
from caesura.models.data.packing import pack
from caesura.models.data.punctuated_sequences import punctuated
from caesura.models.data.resident_text import Batch, ResidentText
from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.constrained_decoder import ConstrainedDecoder, runs_of
from caesura.models.export.parity import encode
from caesura.models.networks.full_transformer import UNLIMITED
from caesura.models.networks.kept_states import KeptStates
from caesura.models.networks.mpnet import MPNet
from caesura.models.networks.registry import Network, build, describe, look_ahead_words
from caesura.models.networks.sapr import SAPR, SAPRConfig
from caesura.models.networks.t_brnn import TBRNN, TBRNNConfig
from caesura.models.networks.task_dependency import ORDERS, TaskDependency, TaskDependencyConfig
from caesura.models.networks.word_cnn import WordCNN, WordCNNConfig
from caesura.models.training.loop import TrainingPlan, losses, train
from caesura.models.training.optimisers import Optimisers
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.network.full_network import PADDING_WORD
from tests.harness.models.networks import (
    LEADING,
    VOCABULARY,
    buffers,
    check_that_padding_is_seen_by_no_word,
    document,
    far_apart,
    pieces_of,
    scores,
    tiny_config,
    tiny_network,
    tokenizer,
)

LABELLERS = ("task-dependency", "word-cnn", "t-brnn")


def dependent(order: str, *look_ahead: int) -> TaskDependency:
    shape = asdict(tiny_config(look_ahead=look_ahead or (UNLIMITED,) * 2, positions="learned"))
    return TaskDependency(TaskDependencyConfig(**shape, order=order))


def made(kind: str, seed: int = 1) -> Network:
    """Return a small network whose scores are far enough apart for a change to be seen."""
    torch.manual_seed(seed)
    size = len(VOCABULARY)
    networks: dict[str, Network] = {
        "task-dependency": dependent("pd"),
        "word-cnn": WordCNN(WordCNNConfig(vocabulary_size=size, width=16)),
        "t-brnn": TBRNN(TBRNNConfig(vocabulary_size=size, width=16, hidden=12)),
        "sapr": SAPR(SAPRConfig(vocabulary_size=size, width=16, heads=2, inner_width=32, layers=2)),
    }
    network = networks[kind]
    return far_apart(network)


def seen_from(network: Network, changed: int, length: int = 17) -> list[int]:
    """Return the places whose scores change with the piece at ``changed``."""
    pieces, word_index = pieces_of(length)
    before = scores(network, pieces, word_index)
    pieces[0, changed] = (pieces[0, changed] - 2) % (len(VOCABULARY) - 3) + 3
    differs = (scores(network, pieces, word_index) - before).abs().amax(-1)[0] > 0
    return [int(place) for place in differs.nonzero().flatten()]


def one_batch() -> Batch:
    text = pack([document(12, seed=4)], tokenizer())
    return ResidentText(text, LEADING).batch([(0, 20), (20, 35), (35, text.words)])


@pytest.mark.parametrize("kind", LABELLERS)
def test_scores_are_a_row_of_classes_a_piece(kind: str) -> None:
    marks, tags = made(kind)(*pieces_of(9))
    assert (marks.shape, tags.shape) == ((1, 9, 4), (1, 9, 5))


@pytest.mark.parametrize("kind", LABELLERS)
def test_no_word_attends_to_padding(kind: str) -> None:
    check_that_padding_is_seen_by_no_word(made(kind))


@pytest.mark.parametrize("kind", [*LABELLERS, "sapr"])
def test_a_network_learns_one_batch_by_heart_and_every_weight_of_it_moves(kind: str) -> None:
    network, batch = made(kind).train(), one_batch()
    began = {name: weights.detach().clone() for name, weights in network.named_parameters()}
    optimisers = Optimisers(network, 6e-3, 0.0, 1.0)
    of_heads = [0.0]
    for _ in range(100):
        found = losses(network, batch)
        torch.stack(found).sum().backward()  # type: ignore[no-untyped-call]
        optimisers.step(6e-3)
        of_heads = [loss.item() for loss in found]
    assert of_heads[0] < 0.1
    assert of_heads[1] < 0.3  # SAPR's is of a word softmax over the whole vocabulary
    unmoved = [name for name, weights in network.named_parameters() if torch.equal(weights, began[name])]
    assert unmoved == []


@pytest.mark.parametrize("kind", [*LABELLERS, "sapr"])
def test_a_network_is_built_again_from_its_description(kind: str) -> None:
    network = made(kind)
    again = build(*describe(network))
    assert type(again) is type(network)
    assert again.config == network.config
    again.load_state_dict(network.state_dict())


def test_feature_sharing_is_the_encoder_with_its_two_heads() -> None:
    shared, plain = dependent("fs"), MPNet(tiny_config(look_ahead=(UNLIMITED,) * 2, positions="learned"))
    plain.load_state_dict(shared.state_dict())
    assert torch.equal(scores(shared.eval(), *pieces_of(9)), scores(plain.eval(), *pieces_of(9)))


@pytest.mark.parametrize(("order", "first"), [("pd", "punctuation"), ("dp", "disfluency")])
def test_the_second_task_reads_the_first_and_not_the_other_way_round(order: str, first: str) -> None:
    torch.manual_seed(1)
    network = dependent(order).eval()
    pieces, word_index = pieces_of(9)
    with torch.no_grad():
        before = dict(zip(("punctuation", "disfluency"), network(pieces, word_index), strict=True))
        getattr(network, first).bias.add_(torch.arange(4.0 if first == "punctuation" else 5.0))
        after = dict(zip(("punctuation", "disfluency"), network(pieces, word_index), strict=True))
    second = ({"punctuation", "disfluency"} - {first}).pop()
    assert not torch.allclose(before[second], after[second])
    with torch.no_grad():
        getattr(network, second).bias.add_(1.7)
        last = dict(zip(("punctuation", "disfluency"), network(pieces, word_index), strict=True))
    assert torch.equal(last[first], after[first])


def test_the_attention_is_the_paper_s_over_the_last_pieces_of_words() -> None:
    torch.manual_seed(2)
    network = dependent("pd").eval()
    pieces, _ = pieces_of(6)
    word_index = torch.tensor([[0, 1, 1, 2, 3, 3]])
    with torch.no_grad():
        marks, tags = network(pieces, word_index)
        plain = MPNet.forward(network, pieces, word_index)
        layer = network.dependency
        said = torch.tanh(plain[0][0].softmax(-1) @ layer.transformed.weight.T + layer.transformed.bias)[[2, 3, 5]]
        asking = plain[1][0, 3]
        mixed = torch.softmax(said @ asking, dim=0) @ said
        wanted = layer.final.weight @ torch.cat([mixed, asking]) + layer.final.bias
    assert torch.equal(marks, plain[0])
    assert torch.allclose(tags[0, 3], wanted, atol=1e-6)


def test_the_second_task_sees_no_farther_back_than_the_first() -> None:
    torch.manual_seed(2)
    network = TaskDependency(replace(dependent("pd", 0).config, look_back=2)).eval()
    pieces, word_index = pieces_of(12)
    other = pieces.clone()
    other[0, 2] = pieces[0, 2] % 5 + 3
    with torch.no_grad():
        before, after = network(pieces, word_index), network(other, word_index)
    for one, changed in zip(before, after, strict=True):
        words = {int(word) for word in word_index[0, ((one - changed).abs().amax(-1) > 1e-7)[0]]}
        assert words <= set(range(2, 7)), "two words and two more"


@pytest.mark.parametrize("order", ORDERS)
def test_under_the_mask_the_attention_adds_no_look_ahead(order: str) -> None:
    torch.manual_seed(1)
    network = dependent(order, 0, 2).eval()
    assert min(seen_from(network, 12)) == 10
    assert look_ahead_words(network) == 2
    assert look_ahead_words(dependent(order)) == UNLIMITED


def test_an_order_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="fs, dp, pd"):
        dependent("pp")


def test_a_word_cnn_sees_five_pieces_to_either_side() -> None:
    network = made("word-cnn")
    assert seen_from(network, 8) == list(range(3, 14))
    assert look_ahead_words(network) == 5


def test_in_a_t_brnn_every_word_sees_every_other() -> None:
    assert seen_from(made("t-brnn"), 16) == list(range(17))
    assert seen_from(made("t-brnn"), 0) == list(range(17))


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


def test_a_target_has_the_pieces_their_runs_and_each_steps_labels() -> None:
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


@pytest.mark.parametrize("look_ahead", [(0, 0, 0), (0, 0, 4), (1, 1, 2), (3, 0, 1)])
@pytest.mark.parametrize("look_back", [None, 4])
@pytest.mark.parametrize(("positions", "seed"), [("sinusoidal", 0), ("learned", 1)])
def test_the_scores_are_those_of_the_whole_buffer(
    look_ahead: tuple[int, ...], look_back: int | None, positions: str, seed: int
) -> None:
    config = tiny_config(look_ahead=look_ahead, positions=positions)
    network = tiny_network(replace(config, look_back=look_back, closing=seed > 0 and any(look_ahead)))
    words, rng, heard = buffers(1, longest=60, seed=seed + 10)[0], random.Random(seed), 0
    kept = KeptStates(network)
    while heard < len(words):
        heard = min(heard + rng.randint(1, 5), len(words))
        encoded = encode([words[:heard]], tokenizer(), LEADING)
        pieces, word_index = torch.from_numpy(encoded[0]), torch.from_numpy(encoded[1])
        with torch.inference_mode():
            expected, scores = network(pieces, word_index), kept.label(pieces, word_index)
        for head in (0, 1):
            torch.testing.assert_close(scores[head], expected[head], atol=1e-4, rtol=1e-4)
