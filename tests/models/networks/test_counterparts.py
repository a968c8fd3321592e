"""Full-Transformer and BLSTM: what they see, what they do not, and which one a checkpoint brings back."""

from __future__ import annotations

import pytest
import torch

from caesura.models.networks.blstm import BLSTM, BLSTMConfig
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.full_transformer import UNLIMITED, FullTransformer
from caesura.models.networks.mpnet import MPNet, buckets
from caesura.models.networks.registry import KINDS, Network, build, describe
from tests.harness.models.networks import (
    VOCABULARY,
    check_that_padding_is_seen_by_no_word,
    far_apart,
    pieces_of,
    scores,
    tiny_config,
)


def full() -> FullTransformer:
    return FullTransformer(tiny_config(look_ahead=(0, 0, 0)))


def blstm(layers: int = 2) -> BLSTM:
    return BLSTM(BLSTMConfig(vocabulary_size=len(VOCABULARY), width=16, hidden=12, layers=layers))


def mpnet(*look_ahead: int) -> MPNet:
    network = MPNet(tiny_config(look_ahead=look_ahead or (UNLIMITED,) * 3, positions="learned"))
    torch.nn.init.normal_(network.relative)
    return network


def made(kind: str) -> Network:
    """Return a small network whose scores are far enough apart for a change to be seen."""
    torch.manual_seed(1)
    networks: dict[str, Network] = {"full": full(), "mpnet": mpnet(), "blstm": blstm()}
    network = networks[kind]
    return far_apart(network)


@pytest.mark.parametrize("kind", ["full", "mpnet", "blstm"])
@pytest.mark.parametrize("changed", [1, 6, 12])
def test_every_word_sees_every_other(kind: str, changed: int) -> None:
    network = made(kind)
    pieces, word_index = pieces_of(13)
    before = scores(network, pieces, word_index)
    pieces[0, changed] = (pieces[0, changed] - 2) % (len(VOCABULARY) - 3) + 3
    differs = (scores(network, pieces, word_index) - before).abs().amax(-1)[0] > 0
    assert differs.all()


@pytest.mark.parametrize("kind", ["full", "mpnet", "blstm"])
def test_no_word_attends_to_padding(kind: str) -> None:
    check_that_padding_is_seen_by_no_word(made(kind))


def test_the_same_weights_under_the_mask_see_no_further_than_it_lets_them() -> None:
    free = made("full")
    masked = CTTransformer(tiny_config(look_ahead=(0, 0, 2)))
    masked.load_state_dict(free.state_dict())
    pieces, word_index = pieces_of(13)
    before = scores(masked.eval(), pieces, word_index)
    pieces[0, 12] = (pieces[0, 12] - 2) % (len(VOCABULARY) - 3) + 3
    differs = (scores(masked, pieces, word_index) - before).abs().amax(-1)[0] > 0
    assert differs.nonzero().flatten().tolist() == [10, 11, 12]


def test_the_paper_s_blstm_has_six_layers_of_512_in_each_direction() -> None:
    config = BLSTMConfig(vocabulary_size=10)
    layers = list(BLSTM(config).layers)
    assert len(layers) == 6
    assert all(
        isinstance(layer, torch.nn.LSTM) and layer.bidirectional and layer.hidden_size == 512 for layer in layers
    )


def test_each_layer_of_a_blstm_adds_to_what_the_one_below_says() -> None:
    three, one = blstm(3).eval(), blstm(1).eval()
    one.load_state_dict(three.state_dict(), strict=False)
    with torch.no_grad():
        for layer in list(three.layers)[1:]:
            for weights in layer.parameters():
                weights.zero_()
    pieces, word_index = pieces_of(9)
    assert torch.equal(scores(three, pieces, word_index), scores(one, pieces, word_index))


def test_a_masked_mpnet_sees_no_further_than_its_look_ahead() -> None:
    network = mpnet(0, 0, 2).eval()
    pieces, word_index = pieces_of(13)
    before = scores(network, pieces, word_index)
    pieces[0, 12] = (pieces[0, 12] - 2) % (len(VOCABULARY) - 3) + 3
    differs = (scores(network, pieces, word_index) - before).abs().amax(-1)[0] > 0
    assert differs.nonzero().flatten().tolist() == [10, 11, 12]


def test_an_mpnet_whose_distances_make_no_difference_is_a_full_transformer() -> None:
    plain, network = made("full"), MPNet(tiny_config(look_ahead=(UNLIMITED,) * 3))
    network.load_state_dict(plain.state_dict(), strict=False)
    pieces, word_index = pieces_of(13)
    assert torch.allclose(scores(network.eval(), pieces, word_index), scores(plain, pieces, word_index), atol=1e-5)


def test_distances_are_exact_to_seven_then_wider_on_either_side() -> None:
    seen_from_first, seen_from_last = buckets(400)[0].tolist(), buckets(400)[399].tolist()[::-1]
    assert seen_from_last[:8] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert [seen_from_last[distance] for distance in (8, 16, 32, 64, 127, 128, 399)] == [8, 10, 12, 14, 15, 15, 15]
    assert seen_from_first[0] == 0
    assert seen_from_first[1:] == [16 + bucket for bucket in seen_from_last[1:]]


@pytest.mark.parametrize("network", [full(), blstm(), mpnet(), blstm(1), CTTransformer(tiny_config())])
def test_a_network_is_built_again_from_its_description(network: Network) -> None:
    again = build(*describe(network))
    assert type(again) is type(network)
    assert again.config == network.config
    again.load_state_dict(network.state_dict())


def test_a_network_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=", ".join(KINDS)):
        build("rnn", {})
