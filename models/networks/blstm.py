"""BLSTM: the CT-Transformer's counterpart with a bidirectional LSTM in place of its encoder.

Chen et al. 2020, section 4.3: 6 layers with a hidden size of 512. The paper does not say whether that is the size of
one direction or of both together; here it is that of one, as LSTM sizes are commonly given. It reads the same pieces as
the other networks, and a word's labels stand at its last piece. Shapes: B samples, S pieces, D width, H hidden size.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.utils import rnn

from models.networks.ct_transformer import PADDING_WORD, start_small

__all__ = ["BLSTM", "BLSTMConfig"]


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
        """Build the network with small random weights; the LSTM's keep its input in sight (``_start_in_sight``)."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.width)
        self.embedding_norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)
        between = config.dropout if config.layers > 1 else 0.0  # PyTorch drops out between layers, and warns of one
        self.encoder = nn.LSTM(
            config.width, config.hidden, config.layers, batch_first=True, bidirectional=True, dropout=between
        )
        self.punctuation = nn.Linear(2 * config.hidden, config.punctuation_classes)
        self.disfluency = nn.Linear(2 * config.hidden, config.disfluency_classes)
        self.apply(start_small)
        _start_in_sight(self.encoder)

    def forward(self, pieces: Tensor, word_index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the punctuation scores (B, S, P) and disfluency scores (B, S, Q) of ``pieces`` (B, S).

        ``word_index`` (B, S) tells padding (``PADDING_WORD``), which stands at the end: each direction reads a sample
        from its own first or last piece, so padding is seen by none.
        """
        hidden = self.dropout(self.embedding_norm(self.embedding(pieces)))
        lengths = (word_index < PADDING_WORD).sum(dim=1).cpu()
        packed = rnn.pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
        encoded, _ = self.encoder(packed)
        hidden, _ = rnn.pad_packed_sequence(encoded, batch_first=True, total_length=pieces.shape[1])  # (B, S, 2 H)
        hidden = self.dropout(hidden)
        return self.punctuation(hidden), self.disfluency(hidden)


def _start_in_sight(encoder: nn.LSTM) -> None:
    """Begin so that the top layer's states vary with the input as the first one's do.

    Through six layers of PyTorch's own start (uniform, 1 / sqrt(H) at most) a sixtieth of it is left at the top, and
    nothing is learnt from the text for half a million words. So a gate's input has the variance of its layer's, the
    recurrent matrices are orthogonal (Saxe et al. 2014), and forget gates begin open (Jozefowicz et al. 2015).
    """
    hidden = encoder.hidden_size
    for name, weights in encoder.named_parameters():
        if name.startswith("weight_ih"):
            nn.init.normal_(weights, std=weights.shape[1] ** -0.5)
        elif name.startswith("weight_hh"):
            for gate in weights.data.chunk(4):
                nn.init.orthogonal_(gate)
        else:
            nn.init.zeros_(weights)
            if name.startswith("bias_ih"):
                weights.data[hidden : 2 * hidden] = 1.0  # gates stand in the order input, forget, cell, output
