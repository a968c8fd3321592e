"""Small things that the training tests need: a vocabulary, texts of our own, a tiny network, and their export."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from torch import Tensor

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.export.folder import ModelCard, export
from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.pieces import LEADING as LEADING_PIECE
from caesura.models.networks.pieces import MAX_PIECES, UNKNOWN_PIECE
from caesura.models.networks.registry import Network
from caesura.schemas.model_manifest import ModelManifest
from caesura.worker.inference.model.wordpiece import WordPiece
from caesura.worker.inference.network.full_network import PADDING_WORD

WORDS = ("the", "cat", "dog", "saw", "a", "bird", "today", "where", "is", "it", "uh", "um", "and", "then", "we", "left")
VOCABULARY = [
    "[PAD]",
    UNKNOWN_PIECE,
    LEADING_PIECE,
    *WORDS,
    *"abcdefghijklmnopqrstuvwxyz'",
    *(f"##{c}" for c in "abcdefgs"),
]
LEADING = VOCABULARY.index(LEADING_PIECE)
"""The number of the piece that leads."""
CARD = ModelCard(id="tiny", version="1", language="en", licence="CC0-1.0", trained_on=("made up",))


def tokenizer() -> WordPiece:
    return WordPiece(VOCABULARY, max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)


def tiny_config(*, look_ahead: tuple[int, ...] = (0, 1, 2), positions: str = "sinusoidal") -> CTConfig:
    return CTConfig(
        vocabulary_size=len(VOCABULARY),
        width=32,
        heads=4,
        inner_width=64,
        look_ahead=look_ahead,
        positions=positions,
        max_positions=64,
    )


def tiny_network(config: CTConfig | None = None, *, seed: int = 1) -> CTTransformer:
    """Return a random network whose scores are far enough apart to be worth comparing."""
    torch.manual_seed(seed)
    network = CTTransformer(config or tiny_config())
    far_apart(network, by=8)
    return network


def buffers(count: int, *, longest: int = 40, seed: int = 1) -> list[list[str]]:
    rng = random.Random(seed)
    return [[rng.choice(WORDS) for _ in range(rng.randint(1, longest))] for _ in range(count)]


def document(sentences: int, *, seed: int = 1) -> AlignedDocument:
    """Return made-up sentences: a full stop after "today" and "left", a question mark after "it", tags on fillers."""
    rng = random.Random(seed)
    made = AlignedDocument("made up", f"document {seed}")
    for _ in range(sentences):
        ending = rng.choice((("today", 2), ("left", 2), ("it", 3)))
        for _ in range(rng.randint(2, 6)):
            made.add(rng.choice(("the", "cat", "dog", "saw", "a", "bird")), 0, 0)
            if rng.random() < 0.2:
                made.add(rng.choice(("uh", "um")), 0, 3)
        made.add(ending[0], ending[1], 0)
    made.turn_ends.add(len(made.words) - 1)
    return made


def exported(network: CTTransformer, folder: Path, *, int8: bool) -> ModelManifest:
    return export(network, VOCABULARY, folder, CARD, int8=int8)


def far_apart(network: Network, *, by: float = 4) -> Network:
    """Make the weights of a network larger and return it: its scores differ by enough for a change to be seen."""
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.requires_grad and parameter.dim() > 1:
                parameter.mul_(by)
    return network.eval()


def pieces_of(length: int, *, seed: int = 3) -> tuple[Tensor, Tensor]:
    torch.manual_seed(seed)
    return torch.randint(3, len(VOCABULARY), (1, length)), torch.arange(length).unsqueeze(0)


def scores(network: Network, pieces: Tensor, word_index: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.cat(network(pieces, word_index), dim=-1)


def check_that_padding_is_seen_by_no_word(network: Network) -> None:
    """Check that a text says the same alone and beside a longer one, whatever it is filled up with."""
    short, word_index = pieces_of(6)
    long, long_index = pieces_of(15, seed=4)
    for filler in (0, 7):
        padded = torch.cat([torch.nn.functional.pad(short, (0, 9), value=filler), long])
        numbers = torch.cat([torch.nn.functional.pad(word_index, (0, 9), value=PADDING_WORD), long_index])
        among = scores(network, padded, numbers)
        assert torch.allclose(scores(network, short, word_index)[0], among[0, :6], atol=1e-5)
        assert torch.allclose(scores(network, long, long_index)[0], among[1], atol=1e-5)
