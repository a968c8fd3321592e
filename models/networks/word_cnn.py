"""Word-CNN: five gated convolutions over the pieces, the sequence labeller that SAPR is compared with.

Wang, Chen, Yang & Xu 2018 (SAPR), section IV-B, equation 9: a layer is (x * W + b) times sigmoid(x * V + c), and a
linear layer scores the classes. Their CRF over the classes and the pooling of each layer's maximum (which would leave
one vector a sentence, not one a word) are left out; from the second layer on a layer adds to what the one below says. A
word sees ``layers`` times half a kernel pieces to either side: its look-ahead is bounded, five words at most as built.
Shapes: B samples, S pieces, D width.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from caesura.models.networks.ct_transformer import start_small
from caesura.worker.inference.network.full_network import PADDING_WORD


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCNNConfig:
    """The shape of a network. kernel: how many pieces a convolution reads, an odd number."""

    vocabulary_size: int
    width: int = 256
    layers: int = 5
    kernel: int = 3
    punctuation_classes: int = 4
    disfluency_classes: int = 5
    dropout: float = 0.0

    @property
    def look_ahead_words(self) -> int:
        """How many words ahead a word sees at most."""
        return self.layers * (self.kernel // 2)


class WordCNN(nn.Module):
    """The network: pieces and their word numbers in, two rows of class scores a piece out."""

    def __init__(self, config: WordCNNConfig) -> None:
        """Build the network with small random weights; the convolutions' are PyTorch's start."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.width)
        self.embedding_norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(
            nn.Conv1d(config.width, 2 * config.width, config.kernel, padding=config.kernel // 2)
            for _ in range(config.layers)
        )
        self.punctuation = nn.Linear(config.width, config.punctuation_classes)
        self.disfluency = nn.Linear(config.width, config.disfluency_classes)
        self.apply(start_small)

    def forward(self, pieces: Tensor, word_index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the punctuation scores (B, S, P) and disfluency scores (B, S, Q) of ``pieces`` (B, S).

        ``word_index`` (B, S) tells padding (``PADDING_WORD``), which is read as zeros, as what lies past either end is.
        """
        real = (word_index < PADDING_WORD).unsqueeze(1)  # (B, 1, S)
        hidden = self.embedding_norm(self.embedding(pieces)).transpose(1, 2) * real  # (B, D, S)
        for above, layer in enumerate(self.layers):
            gated = functional.glu(layer(self.dropout(hidden)), dim=1) * real
            hidden = hidden + gated if above else gated
        rows = self.dropout(hidden.transpose(1, 2))
        return self.punctuation(rows), self.disfluency(rows)
