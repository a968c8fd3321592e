"""CT-Transformer: an encoder whose look-ahead is bounded in words, with a punctuation head and a disfluency head.

Chen et al. 2020 (CT-Transformer), section 3. The mask is the paper's equation 3, counted in words instead of
positions, because the network reads sub-words:

1. piece j is visible to piece i in layer k exactly if ``word(j) <= word(i) + L_k``;
2. so the pieces of one word see one another, all history is visible, and a word sees sum(L_k) words ahead at most;
   with ``look_back`` W, which the paper has not, of the history only the W words before a word and the leading piece
   are (docs/engine.md);
3. the leading piece counts as word 0, the words of the buffer are 1, 2, 3 …; padding carries ``PADDING_WORD``,
   larger than any word, and so is visible to padding alone;
4. a word's labels are read at its last piece;
5. with ``closing``, which the paper has not, the marks of a sample's last word come from another head (ADR 0019).

The layers are BERT's (attention, add and norm, GELU, add and norm), so that a pre-trained BERT may start the weights.
Shapes: B samples, S pieces, D width, H heads, P and Q classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from caesura.worker.inference.network.full_network import PADDING_WORD

UNSEEN = -30_000.0
"""What is added to the score of a key that must not be seen: the paper's minus infinity."""

_NARROW = 32  # the width of a head up to which a GPU's fused attention is the faster one


@dataclass(frozen=True, slots=True, kw_only=True)
class CTConfig:
    """The shape of a network; ``look_ahead`` is the paper's L_i, one number of words a layer.

    look_back: the words before a word that each layer sees; None: all of them.
    casing_classes: 0 for a network without the third head. closing: whether a word that none follows has a head of its
    own for its mark.
    """

    vocabulary_size: int
    width: int = 384
    heads: int = 12
    inner_width: int = 1536
    look_ahead: tuple[int, ...] = (1, 1, 1, 2, 2, 2)
    look_back: int | None = None
    positions: str = "sinusoidal"
    max_positions: int = 512
    punctuation_classes: int = 4
    disfluency_classes: int = 5
    casing_classes: int = 0
    closing: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        """Refuse shapes that cannot be built."""
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        if self.positions not in ("sinusoidal", "learned"):
            raise ValueError(f"positions is {self.positions!r}, not 'sinusoidal' or 'learned'")
        if min(self.look_ahead) < 0:
            raise ValueError(f"look_ahead {self.look_ahead} holds a negative number")
        if self.closing and not any(self.look_ahead):
            raise ValueError("without look-ahead a word's labels are settled at once: closing would stay in mid-text")
        if self.look_back is not None and self.look_back < 1:
            raise ValueError(f"look_back {self.look_back} is no number of words")

    def sees(self, seer: Tensor, seen: Tensor, look_ahead: int) -> Tensor:
        """Tell which pieces a layer with that look-ahead sees, by the numbers of their words, broadcast together."""
        ahead = seen <= seer + look_ahead
        return ahead if self.look_back is None else ahead & ((seen >= seer - self.look_back) | (seen == 0))


def sinusoids(length: int, width: int) -> Tensor:
    """Return the (length, width) position encoding of Vaswani et al. 2017, section 3.5."""
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)  # (length, 1)
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10000.0) / width))  # (D/2,)
    table = torch.empty(length, width)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table


class _Learned(nn.Module):
    """One learned vector a position; a position past the last has the last one's."""

    def __init__(self, config: CTConfig) -> None:
        super().__init__()
        self.table = nn.Parameter(sinusoids(config.max_positions, config.width) * 0.02)

    def forward(self, length: int) -> Tensor:
        """Return the (length, D) encoding."""
        return self.table[torch.arange(length, device=self.table.device).clamp(max=len(self.table) - 1)]


class _Sinusoidal(nn.Module):
    """The paper's positions, which have no last one, under a fixed linear map.

    The map lets a pre-trained network keep the positions that it learned, as far as waves can follow them; without a
    pre-trained start it is the identity, scaled down to the embedding's start. It is not trained: one step of Adam in
    all its rows at once would move every position by more than positions differ.
    """

    waves: Tensor

    def __init__(self, config: CTConfig) -> None:
        super().__init__()
        self.map = nn.Parameter(torch.eye(config.width) * 0.02, requires_grad=False)
        self.centre = nn.Parameter(torch.zeros(config.width))
        self.register_buffer("waves", sinusoids(config.max_positions, config.width), persistent=False)

    def forward(self, length: int) -> Tensor:
        """Return the (length, D) encoding."""
        waves = self.waves[:length]
        if length > len(waves):
            waves = sinusoids(length, len(self.centre)).to(waves.device)
        return self.centre + waves @ self.map


class CTLayer(nn.Module):
    """One encoder layer with the controllable time-delay mask."""

    def __init__(self, config: CTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.attended = nn.Linear(config.width, config.width)
        self.attention_norm = nn.LayerNorm(config.width, eps=1e-12)
        self.inner = nn.Linear(config.width, config.inner_width)
        self.outer = nn.Linear(config.inner_width, config.width)
        self.output_norm = nn.LayerNorm(config.width, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, hidden: Tensor, visible: Tensor) -> Tensor:
        """Encode ``hidden`` (B, S, D); ``visible`` (B, 1, S, S) is true where a key may be seen.

        Or it holds what is added to the scores (B, H, S, S), as PyTorch's own attention takes either.
        """
        query, key, value = (self.by_head(part) for part in self.qkv(hidden).chunk(3, dim=-1))
        return self.mix(hidden, query, key, value, visible)

    def by_head(self, rows: Tensor) -> Tensor:
        """Return ``rows`` (B, S, D) as the heads take them (B, H, S, D/H)."""
        b, s, d = rows.shape
        return rows.view(b, s, self.heads, d // self.heads).transpose(1, 2)

    def mix(self, hidden: Tensor, query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        """Encode ``hidden`` (B, Q, D), whose ``query`` this is, out of S keys; ``visible`` is (B, 1, Q, S)."""
        mixed = _attend(query, key, value, visible).transpose(1, 2).reshape(hidden.shape)
        hidden = self.attention_norm(hidden + self.dropout(self.attended(mixed)))
        fed = self.outer(functional.gelu(self.inner(hidden)))
        return self.output_norm(hidden + self.dropout(fed))  # type: ignore[no-any-return]


def _attend(query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
    """Mix the values (B, H, S, D/H) of the visible keys: the paper's equation 2.

    Written out and kept in the type of its input, because that trains faster in bfloat16 than PyTorch's fused
    attention does with a mask: on a CPU, and on an H100 too where the network is 768 wide (``docs/experiments.md``).
    Heads of 32 are the exception there: their scores are more to write than their products are to compute.
    """
    if query.device.type == "cuda" and query.shape[-1] <= _NARROW:
        added = visible if visible.dtype == torch.bool else visible.to(query.dtype)
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=added)
    with torch.autocast(query.device.type, enabled=False):
        scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2)  # (B, H, S, S)
        added = torch.where(visible, 0.0, UNSEEN) if visible.dtype == torch.bool else visible
        scores = scores + added.to(scores.dtype)
        return torch.softmax(scores, dim=-1) @ value


class CTTransformer(nn.Module):
    """The network: pieces and their word numbers in, a row of class scores of each head a piece out."""

    def __init__(self, config: CTConfig) -> None:
        """Build the network with small random weights."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.width)
        self.positions = _Learned(config) if config.positions == "learned" else _Sinusoidal(config)
        self.embedding_norm = nn.LayerNorm(config.width, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(CTLayer(config) for _ in config.look_ahead)
        self.punctuation = nn.Linear(config.width, config.punctuation_classes)
        self.disfluency = nn.Linear(config.width, config.disfluency_classes)
        self.casing = nn.Linear(config.width, config.casing_classes) if config.casing_classes else None
        self.closing = nn.Linear(config.width, config.punctuation_classes) if config.closing else None
        self.apply(start_small)

    def forward(
        self, pieces: Tensor, word_index: Tensor, look_ahead: Sequence[int] | None = None
    ) -> tuple[Tensor, ...]:
        """Return the scores of ``pieces`` (B, S): punctuation (B, S, P), disfluency (B, S, Q), casing (B, S, C) if any.

        ``word_index`` (B, S) numbers each piece's word: 0 the leading piece, then 1, 2, 3 …, ``PADDING_WORD`` padding.
        ``look_ahead``: another L_i for this pass, one a layer (training draws some; see ``loop``).
        """
        return self.scores(self.encode(pieces, word_index, look_ahead), word_index)

    def encode(self, pieces: Tensor, word_index: Tensor, look_ahead: Sequence[int] | None = None) -> Tensor:
        """Return the last layer's output (B, S, D), of which the heads speak; see ``forward``."""
        hidden = self.embedding(pieces) + self.positions(pieces.shape[1])
        hidden = self.dropout(self.embedding_norm(hidden))
        seen, seer = word_index[:, None, None, :], word_index[:, None, :, None]
        asked = tuple(look_ahead or self.config.look_ahead)
        masks = {words: self.mask(self.config.sees(seer, seen, words)) for words in set(asked)}
        for layer, words in zip(self.layers, asked, strict=True):
            hidden = layer(hidden, masks[words])
        return hidden  # type: ignore[no-any-return]

    def scores(self, hidden: Tensor, word_index: Tensor) -> tuple[Tensor, ...]:
        """Return what the heads say of the last layer's output (B, S, D)."""
        heads = (self.punctuation, self.disfluency, self.casing)
        marks, *others = (head(hidden) for head in heads if head is not None)
        if self.closing is not None:
            marks = torch.where(last_pieces(word_index).unsqueeze(-1), self.closing(hidden), marks)
        return marks, *others

    def mask(self, visible: Tensor) -> Tensor:
        """Return what a layer takes for ``visible`` (B, 1, S, S): itself, where positions are in the input alone."""
        return visible


def last_pieces(word_index: Tensor) -> Tensor:
    """Tell which piece of each sample (B, S) is the last one before padding: a leading piece alone is none."""
    return (following_words(word_index) == PADDING_WORD) & (word_index > 0) & (word_index < PADDING_WORD)


def following_words(word_index: Tensor) -> Tensor:
    """Return the word number of the piece after each one (B, S), padding's after a row's last."""
    return functional.pad(word_index[:, 1:], (0, 1), value=PADDING_WORD)


def start_small(module: nn.Module) -> None:
    """Give a linear or embedding layer BERT's small random start; use it with ``nn.Module.apply``."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
