from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor

from caesura.models.networks.ct_transformer import PADDING_WORD, CTTransformer
from tests.harness.models.networks import VOCABULARY, tiny_config, tiny_network

pytestmark = pytest.mark.torch


def words_of_pieces(count: int, *, pieces_a_word: int = 2) -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    length = 1 + count * pieces_a_word
    word_index = (torch.arange(length) + pieces_a_word - 1) // pieces_a_word
    return torch.randint(3, len(VOCABULARY), (1, length)), word_index.unsqueeze(0)


def scores(network: CTTransformer, pieces: Tensor, word_index: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.cat(network(pieces, word_index), dim=-1)


@pytest.mark.parametrize("look_ahead", [(0, 0, 3), (1, 1, 1), (0, 0, 0), (2, 0, 1)])
def test_a_word_beyond_the_look_ahead_changes_nothing_and_the_last_one_inside_does(look_ahead: tuple[int, ...]) -> None:
    network = tiny_network(tiny_config(look_ahead=look_ahead))
    pieces, word_index = words_of_pieces(12)
    before = scores(network, pieces, word_index)
    for changed in range(1, 13):
        other = pieces.clone()
        places = word_index[0] == changed
        other[0, places] = (other[0, places] - 2) % (len(VOCABULARY) - 3) + 3
        differs = (scores(network, other, word_index) - before).abs().amax(-1)[0] > 1e-6
        first = max(changed - sum(look_ahead), 1)
        reached = {int(word) for word in word_index[0, differs]} - {0}
        assert reached == set(range(first, 13))


def test_a_word_before_the_look_back_changes_nothing_in_one_layer_and_the_leading_piece_does() -> None:
    network = tiny_network(replace(tiny_config(look_ahead=(2,)), look_back=3))
    pieces, word_index = words_of_pieces(12)
    before = scores(network, pieces, word_index)
    for changed in range(13):
        other = pieces.clone()
        places = word_index[0] == changed
        other[0, places] = (other[0, places] - 2) % (len(VOCABULARY) - 3) + 3
        differs = (scores(network, other, word_index) - before).abs().amax(-1)[0] > 1e-6
        reached = {int(word) for word in word_index[0, differs]} - {0}
        assert reached == set(range(max(changed - 2, 1), min(changed + 3, 12) + 1) if changed else range(1, 13))


def test_pieces_of_one_word_see_one_another() -> None:
    network = tiny_network(tiny_config(look_ahead=(0,)))
    pieces, word_index = words_of_pieces(3, pieces_a_word=3)
    before = scores(network, pieces, word_index)
    pieces[0, 6] = (pieces[0, 6] - 2) % (len(VOCABULARY) - 3) + 3  # the last piece of the second word
    differs = (scores(network, pieces, word_index) - before).abs().amax(-1)[0] > 1e-6
    assert differs.tolist() == [False, False, False, False, True, True, True, True, True, True]


def test_padding_is_seen_by_no_word() -> None:
    network = tiny_network()
    pieces, word_index = words_of_pieces(5)
    padded = torch.nn.functional.pad(pieces, (0, 9), value=7)
    numbers = torch.nn.functional.pad(word_index, (0, 9), value=PADDING_WORD)
    alone, among = scores(network, pieces, word_index), scores(network, padded, numbers)[:, : pieces.shape[1]]
    assert torch.allclose(alone, among, atol=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_buffer_longer_than_any_position_in_training_is_labelled(positions: str) -> None:
    network = tiny_network(tiny_config(positions=positions))
    pieces, word_index = words_of_pieces(100)
    assert torch.isfinite(scores(network, pieces, word_index)).all()


def test_shapes_that_cannot_be_built_are_refused() -> None:
    with pytest.raises(ValueError, match="look_back 0"):
        replace(tiny_config(), look_back=0)
    with pytest.raises(ValueError, match="positions"):
        tiny_config(positions="none")
    with pytest.raises(ValueError, match="negative"):
        tiny_config(look_ahead=(0, -1))
