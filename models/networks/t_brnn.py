"""T-BRNN: a bidirectional GRU, a GRU over it, and attention from the one to the other with late fusion.

Tilk & Alumae 2016, "Bidirectional recurrent neural network with attention mechanism for punctuation restoration", the
baseline of SAPR's table I. For word t with bidirectional states h and the upper layer's state s:

1. s_t = GRU(h_t, s_t-1); word t attends to all h with s_t-1: a_t,i = softmax_i(v . tanh(W s_t-1 + U h_i));
2. late fusion: f_t = (C a_t) * sigmoid(F (C a_t) + G s_t + b) + s_t, of which the classes are scored.

Words begin at random embeddings (the paper's T-BRNN; T-BRNN-pre begins at GloVe's). A label stands after a word here,
before it there. Shapes: B samples, S pieces, H hidden size of one direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils import rnn

from caesura.models.networks.ct_transformer import UNSEEN, start_small
from caesura.worker.inference.network.full_network import PADDING_WORD


@dataclass(frozen=True, slots=True, kw_only=True)
class TBRNNConfig:
    """The shape of a network. hidden: of one direction, of the layer above, and of the attention."""

    vocabulary_size: int
    width: int = 256
    hidden: int = 256
    punctuation_classes: int = 4
    disfluency_classes: int = 5
    dropout: float = 0.0


class TBRNN(nn.Module):
    """The network: pieces and their word numbers in, two rows of class scores a piece out."""

    def __init__(self, config: TBRNNConfig) -> None:
        """Build the network with small random weights; the GRUs' are PyTorch's start."""
        super().__init__()
        self.config = config
        size = config.hidden
        self.embedding = nn.Embedding(config.vocabulary_size, config.width)
        self.embedding_norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.below = nn.GRU(config.width, size, batch_first=True, bidirectional=True)
        self.above = nn.GRU(2 * size, size, batch_first=True)
        self.asked_by = nn.Linear(size, size)
        self.asked = nn.Linear(2 * size, size)
        self.match = nn.Linear(size, 1)
        self.context = nn.Linear(2 * size, size)
        self.fused_context = nn.Linear(size, size)
        self.fused_state = nn.Linear(size, size)
        self.punctuation = nn.Linear(size, config.punctuation_classes)
        self.disfluency = nn.Linear(size, config.disfluency_classes)
        self.apply(start_small)

    def forward(self, pieces: Tensor, word_index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the punctuation scores (B, S, P) and disfluency scores (B, S, Q) of ``pieces`` (B, S).

        ``word_index`` (B, S) tells padding (``PADDING_WORD``), which stands at the end and is seen by no word.
        """
        real = word_index < PADDING_WORD
        embedded = self.dropout(self.embedding_norm(self.embedding(pieces)))
        packed = rnn.pack_padded_sequence(embedded, real.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False)
        both, _ = rnn.pad_packed_sequence(self.below(packed)[0], batch_first=True, total_length=pieces.shape[1])
        both = self.dropout(both)  # (B, S, 2 H)
        states, _ = self.above(
            both
        )  # (B, S, H); what follows a word does not reach it here, so padding does not either
        before = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], dim=1)
        context = self.context(self._attended(before, both, real))  # (B, S, H)
        gate = torch.sigmoid(self.fused_context(context) + self.fused_state(states))
        fused = self.dropout(context * gate + states)
        return self.punctuation(fused), self.disfluency(fused)

    def _attended(self, before: Tensor, both: Tensor, real: Tensor) -> Tensor:
        """Return for each state before a word (B, S, H) the mixture (B, S, 2 H) of the states ``both`` below."""
        sums = self.asked_by(before).unsqueeze(2) + self.asked(both).unsqueeze(1)  # (B, S, S, H)
        scores = self.match(torch.tanh(sums)).squeeze(-1)  # (B, S, S)
        return torch.softmax(torch.where(real.unsqueeze(1), scores, UNSEEN), dim=-1).to(both.dtype) @ both
