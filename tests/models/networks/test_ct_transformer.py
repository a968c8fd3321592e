""""""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor

from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.folded_vocabulary import write_folded
from caesura.worker.inference.model.wordpiece import ACCENTED, WordPiece
from caesura.worker.inference.network.full_network import PADDING_WORD
from tests.harness.models.networks import VOCABULARY, tiny_config, tiny_network


def words_of_pieces(count: int, *, pieces_a_word: int = 2) -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    length = 1 + count * pieces_a_word
    word_index = (torch.arange(length) + pieces_a_word - 1) // pieces_a_word
    return torch.randint(3, len(VOCABULARY), (1, length)), word_index.unsqueeze(0)


def scores(network: CTTransformer, pieces: Tensor, word_index: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.cat(network(pieces, word_index), dim=-1)


@pytest.mark.parametrize("look_ahead", [(0, 0, 3), (1, 1, 1), (0, 0, 0), (2, 0, 1)])
def test_only_words_inside_the_look_ahead_change_a_label(look_ahead: tuple[int, ...]) -> None:
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


def test_a_word_before_the_look_back_changes_nothing_in_one_layer() -> None:
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


def test_no_word_attends_to_padding() -> None:
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


pytest.importorskip("tokenizers")


EMBEDDING = "embeddings.word_embeddings.weight"
PIECES = [
    *((name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")),
    ("\u2581", -3.0),
    ("\u2581Frage", -8.0),
    ("\u2581frage", -8.0 - math.log(3)),
    ("\u2581Bund", -9.0),
    ("es", -5.0),
    ("tag", -7.0),
    ("\u2581t\u00fa", -6.0),
    ("\u2581tu", -6.0),
    *((letter, -12.0) for letter in "abdefgnrstu"),
    ("<mask>", 0.0),
]
NUMBERS = {piece: number for number, (piece, _) in enumerate(PIECES)}
WORDS = {"frage": 50, "bundestag": 40, "t\u00fa": 9, "tu": 9, "rad": 2}


def folded(folder: Path) -> tuple[list[str], np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    tokenizer = Tokenizer(models.Unigram(PIECES, unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.arange(len(PIECES), dtype=np.float32)[:, None] * np.ones((1, 4), dtype=np.float32)
    save_file({EMBEDDING: rows, "other": np.ones(2, dtype=np.float32)}, str(folder / "encoder.safetensors"))
    found = write_folded(
        folder / "encoder.safetensors",
        folder / "tokenizer.json",
        WORDS,
        folder / "start.safetensors",
        folder / "vocabulary.txt",
    )
    pieces = (folder / "vocabulary.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    tensors = load_file(str(folder / "start.safetensors"))
    assert found == len(pieces) == len(tensors[EMBEDDING])
    assert tensors["other"].tolist() == [1, 1]
    return pieces, tensors[EMBEDDING]


def test_a_word_has_the_row_of_the_forms_that_fold_to_it_by_their_probability(tmp_path: Path) -> None:
    pieces, rows = folded(tmp_path)
    wanted = 0.75 * NUMBERS["\u2581Frage"] + 0.25 * NUMBERS["\u2581frage"]
    assert rows[pieces.index("frage")] == pytest.approx(wanted)


def test_a_frequent_word_is_whole_with_the_mean_row_of_its_likelier_form(tmp_path: Path) -> None:
    pieces, rows = folded(tmp_path)
    wanted = (NUMBERS["\u2581Bund"] + NUMBERS["es"] + NUMBERS["tag"]) / 3
    assert rows[pieces.index("bundestag")] == pytest.approx(wanted)


def test_accents_tell_words_apart_and_a_rare_word_is_spelled(tmp_path: Path) -> None:
    pieces, _ = folded(tmp_path)
    tokenizer = WordPiece(pieces, max_pieces=8)
    assert pieces[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ACCENTED]
    names = {word: [pieces[number] for number in tokenizer.pieces(word)] for word in WORDS}
    assert names["t\u00fa"] == ["t\u00fa"]
    assert names["tu"] == ["tu"]
    assert names["rad"] == ["r", "##a", "##d"]
