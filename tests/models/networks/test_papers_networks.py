"""Task-dependency attention, Word-CNN and T-BRNN: shapes, what they see, and that they learn."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

pytest.importorskip("torch")

import torch

from caesura.models.data.packing import pack
from caesura.models.data.resident_text import Batch, ResidentText
from caesura.models.networks.full_transformer import UNLIMITED
from caesura.models.networks.mpnet import MPNet
from caesura.models.networks.registry import Network, build, describe, look_ahead_words
from caesura.models.networks.sapr import SAPR, SAPRConfig
from caesura.models.networks.t_brnn import TBRNN, TBRNNConfig
from caesura.models.networks.task_dependency import ORDERS, TaskDependency, TaskDependencyConfig
from caesura.models.networks.word_cnn import WordCNN, WordCNNConfig
from caesura.models.training.loop import losses
from caesura.models.training.optimisers import Optimisers
from tests.harness.models.networks import (
    LEADING,
    VOCABULARY,
    check_that_padding_is_seen_by_no_word,
    document,
    far_apart,
    pieces_of,
    scores,
    tiny_config,
    tokenizer,
)

pytestmark = pytest.mark.torch

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
def test_padding_is_seen_by_no_word(kind: str) -> None:
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
def test_the_second_task_reads_what_the_first_one_says_and_not_the_other_way_round(order: str, first: str) -> None:
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
