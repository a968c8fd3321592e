"""SAPR: punctuation as translation, an encoder-decoder on pieces of words with a word and a label softmax.

Wang, Chen, Yang & Xu 2018, "Self-attention based network for punctuation restoration", section III. The encoder reads
the bare words; the decoder writes the punctuated text, a piece of a word or a mark a step, and says of each step
whether it is a word (label O) or which mark. What it writes is fed back from two tables, of words and of labels, so
that with the encoder's there are three. The decoder is to be constrained (``constrained_decoder``): a
word that it writes is the next one of the source.

Numbers: a mark is an atom 1 … A. Labels: 0 is O, then the atoms, A + 1 is the border (begin and end). Words: the
vocabulary's V pieces, then the atoms, then the border. A word's class is a run of marks, ``config.runs``: class 0 is
the empty run; runs of several atoms are joint punctuation.

What the paper leaves open: layers normalise their input (pre-norm), which needs no care with the learning rate; the
word softmax shares the target words' table, whose pieces begin as the source's do (from there on each table learns by
itself), so that what it takes to copy a piece is learnt for all pieces at once. Positions are waves with the paper's
constant of 10,000 (its equation has 1,000). Shapes: B samples, S pieces of the source, T steps of the target, D width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from caesura.models.networks.ct_transformer import sinusoids
from caesura.worker.inference.network.full_network import PADDING_WORD

_PLACES = 1024

KeysValues = tuple[Tensor, Tensor]
"""Keys and values, each (B, heads, places, D / heads)."""

Atoms = TypeVar("Atoms", int, Tensor)


@dataclass(frozen=True, slots=True, kw_only=True)
class SAPRConfig:
    """The shape of a network. runs: the run of atoms that each punctuation class stands for; word_weight: gamma."""

    vocabulary_size: int
    runs: tuple[tuple[int, ...], ...] = ((), (1,), (2,), (3,))
    width: int = 256
    heads: int = 8
    inner_width: int = 1024
    layers: int = 4
    word_weight: float = 0.15
    disfluency_classes: int = 5
    dropout: float = 0.0

    def __post_init__(self) -> None:
        """Refuse runs that the decoder could not write."""
        if not self.runs or self.runs[0]:
            raise ValueError("class 0 is the empty run")
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")

    @property
    def punctuation_classes(self) -> int:
        """P: how many runs of marks there are, the empty one among them."""
        return len(self.runs)

    @property
    def atoms(self) -> int:
        """A: how many marks there are."""
        return max((atom for run in self.runs for atom in run), default=0)

    @property
    def border_label(self) -> int:
        """The label of begin and end."""
        return self.atoms + 1

    @property
    def border_word(self) -> int:
        """The word of begin and end."""
        return self.vocabulary_size + self.atoms

    def mark_word(self, atom: Atoms) -> Atoms:
        """Return the word that a mark is written as, of one or of many; of the border's label it is the border."""
        return self.vocabulary_size + atom - 1


class _Attention(nn.Module):
    def __init__(self, config: SAPRConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.width, config.width)
        self.keys_and_values = nn.Linear(config.width, 2 * config.width)
        self.mixed = nn.Linear(config.width, config.width)

    def keys_values(self, hidden: Tensor) -> KeysValues:
        """Return the keys and values of ``hidden`` (B, S, D)."""
        key, value = (self._by_head(part) for part in self.keys_and_values(hidden).chunk(2, dim=-1))
        return key, value

    def forward(
        self, asking: Tensor, kept: KeysValues, visible: Tensor | None = None, *, causal: bool = False
    ) -> Tensor:
        """Return the mixture (B, Q, D) for ``asking`` (B, Q, D); ``visible`` (B, 1, Q or 1, S) is true where seen."""
        mixed = functional.scaled_dot_product_attention(
            self._by_head(self.query(asking)), *kept, attn_mask=visible, is_causal=causal
        )
        return self.mixed(mixed.transpose(1, 2).reshape(asking.shape))  # type: ignore[no-any-return]

    def _by_head(self, rows: Tensor) -> Tensor:
        b, s, d = rows.shape
        return rows.view(b, s, self.heads, d // self.heads).transpose(1, 2)


class _FeedForward(nn.Module):
    def __init__(self, config: SAPRConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.width, config.inner_width)
        self.outer = nn.Linear(config.inner_width, config.width)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return max(0, x W1 + b1) W2 + b2 (equation 6)."""
        return self.outer(functional.relu(self.inner(hidden)))  # type: ignore[no-any-return]


class EncoderLayer(nn.Module):
    """Every piece sees every other."""

    def __init__(self, config: SAPRConfig) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(config.width) for _ in range(2))
        self.attention, self.fed = _Attention(config), _FeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, hidden: Tensor, visible: Tensor) -> Tensor:
        """Encode ``hidden`` (B, S, D); ``visible`` (B, 1, 1, S) is false at padding."""
        normed = self.norms[0](hidden)
        hidden = hidden + self.dropout(self.attention(normed, self.attention.keys_values(normed), visible))
        return hidden + self.dropout(self.fed(self.norms[1](hidden)))  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    """A step sees the steps before it and the whole source."""

    def __init__(self, config: SAPRConfig) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(config.width) for _ in range(3))
        self.attention, self.source, self.fed = _Attention(config), _Attention(config), _FeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, hidden: Tensor, before: KeysValues | None, source: KeysValues, visible: Tensor
    ) -> tuple[Tensor, KeysValues]:
        """Decode the steps ``hidden`` (B, T, D), and return the keys and values of all steps so far.

        before: those of the steps before, of which there are none where all are decoded at once.
        """
        normed = self.norms[0](hidden)
        kept = self.attention.keys_values(normed)
        if before is not None:
            kept = (torch.cat([before[0], kept[0]], dim=2), torch.cat([before[1], kept[1]], dim=2))
        hidden = hidden + self.dropout(self.attention(normed, kept, causal=before is None))
        hidden = hidden + self.dropout(self.source(self.norms[1](hidden), source, visible))
        return hidden + self.dropout(self.fed(self.norms[2](hidden))), kept


@dataclass(slots=True)
class DecoderMemory:
    """What decoding keeps from step to step: a layer's source, its steps so far, and where the source is padding."""

    source: list[KeysValues]
    steps: list[KeysValues | None]
    visible: Tensor
    written: int = 0


class SAPR(nn.Module):
    """The network: pieces of the source and the target so far in, scores of the next word and label out."""

    waves: Tensor

    def __init__(self, config: SAPRConfig) -> None:
        """Build the network with random weights."""
        super().__init__()
        self.config = config
        self.register_buffer("waves", sinusoids(_PLACES, config.width), persistent=False)
        self.embedding = nn.Embedding(config.vocabulary_size, config.width)
        self.target_words = nn.Embedding(config.border_word + 1, config.width)
        self.target_labels = nn.Embedding(config.border_label + 1, config.width)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.encoded_norm, self.decoded_norm = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.label = nn.Linear(config.width, config.border_label + 1)
        self.dropout = nn.Dropout(config.dropout)
        self.apply(_start)
        with torch.no_grad():
            self.target_words.weight[: config.vocabulary_size] = self.embedding.weight

    def forward(self, pieces: Tensor, word_index: Tensor, words: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of the next word (B, T, V + A + 1) and label (B, T, A + 2) at each step.

        pieces, word_index: the source (B, S). words, labels: the target (B, T), beginning with the border.
        """
        decoded = self.step(self.read(pieces, word_index), words, labels)
        return functional.linear(decoded, self.target_words.weight), self.label(decoded)

    def read(self, pieces: Tensor, word_index: Tensor) -> DecoderMemory:
        """Encode the source (B, S)."""
        visible = (word_index < PADDING_WORD)[:, None, None, :]
        hidden = self._placed(self.embedding(pieces), 0)
        for layer in self.encoder:
            hidden = layer(hidden, visible)
        hidden = self.encoded_norm(hidden)
        sources = [layer.source.keys_values(hidden) for layer in self.decoder]  # type: ignore[operator, union-attr]
        return DecoderMemory(sources, [None] * len(sources), visible)

    def step(self, memory: DecoderMemory, words: Tensor, labels: Tensor) -> Tensor:
        """Return the states (B, T, D) after further steps: all of a target at once, or then one at a time."""
        hidden = self._placed(self.target_words(words) + self.target_labels(labels), memory.written)
        for k, layer in enumerate(self.decoder):
            hidden, memory.steps[k] = layer(hidden, memory.steps[k], memory.source[k], memory.visible)
        memory.written += words.shape[1]
        return self.decoded_norm(hidden)  # type: ignore[no-any-return]

    def _placed(self, embedded: Tensor, start: int) -> Tensor:
        """Return ``embedded`` (B, T, D), as large as waves are, with the places from ``start`` on added."""
        end = start + embedded.shape[1]
        places = self.waves[start:end]
        if end > len(self.waves):
            places = sinusoids(end, self.config.width)[start:].to(embedded.device)
        scale: float = self.config.width**0.5
        return self.dropout(embedded * scale + places)  # type: ignore[no-any-return]


def _start(module: nn.Module) -> None:
    """Begin as a Transformer does: embeddings are as large as waves are once scaled, a product keeps its input's size.

    Vaswani et al. 2017; Glorot & Bengio 2010, equation 16.
    """
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
