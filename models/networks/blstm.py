"""BLSTM: the CT-Transformer's counterpart with a bidirectional LSTM in place of its encoder.

Chen et al. 2020, section 4.3: 6 layers with a hidden size of 512. The paper does not say whether that is the size of
one direction or of both together; here it is that of one, as LSTM sizes are commonly given. Nor does it say how six
layers are made to learn: without shortcuts between them nothing is learnt for the first hundreds of thousands of words
(``docs/experiments.md``), so from the second on a layer adds to what the one below says (Wu et al. 2016, section 3.1).
It reads the same pieces as the other networks, and a word's labels stand at its last piece.

Shapes: B samples, S pieces, D width, H hidden size.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.utils import rnn

from caesura.models.networks.ct_transformer import start_small
from caesura.worker.inference.network.full_network import PADDING_WORD


@dataclass(frozen=True, slots=True, kw_only=True)
class BLSTMConfig:
    """The shape of a network. width: of the embedding. hidden: of one direction of a layer."""

    vocabulary_size: int
    width: int = 512
    hidden: int = 512
    layers: int = 6
    punctuation_classes: int = 4
    disfluency_classes: int = 5
    dropout: float = 0.0


class BLSTM(nn.Module):
    """The network: pieces and their word numbers in, two rows of class scores a piece out."""

    def __init__(self, config: BLSTMConfig) -> None:
        """Build the network with small random weights; the LSTM's are PyTorch's start."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.width)
        self.embedding_norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(
            nn.LSTM(2 * config.hidden if above else config.width, config.hidden, batch_first=True, bidirectional=True)
            for above in range(config.layers)
        )
        self.punctuation = nn.Linear(2 * config.hidden, config.punctuation_classes)
        self.disfluency = nn.Linear(2 * config.hidden, config.disfluency_classes)
        self.apply(start_small)

    def forward(self, pieces: Tensor, word_index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the punctuation scores (B, S, P) and disfluency scores (B, S, Q) of ``pieces`` (B, S).

        ``word_index`` (B, S) tells padding (``PADDING_WORD``), which stands at the end: each direction reads a sample
        from its own first or last piece, so padding is seen by none.
        """
        hidden = self.embedding_norm(self.embedding(pieces))
        lengths = (word_index < PADDING_WORD).sum(dim=1).cpu()
        packed = rnn.pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
        for above, layer in enumerate(self.layers):
            read, _ = layer(packed._replace(data=self.dropout(packed.data)))
            packed = read._replace(data=read.data + packed.data) if above else read
        hidden, _ = rnn.pad_packed_sequence(packed, batch_first=True, total_length=pieces.shape[1])  # (B, S, 2 H)
        hidden = self.dropout(hidden)
        return self.punctuation(hidden), self.disfluency(hidden)
