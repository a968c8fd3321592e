"""Joint prediction with task-dependency attention: one task's final layer reads what the other task said.

Lin & Wang 2020, "Joint prediction of punctuation and disfluency in speech transcripts", section 2.2. An encoder with
two heads is feature sharing (``fs``). In ``pd`` the tags are predicted after the marks, in ``dp`` the marks after the
tags:

1. the first task's probabilities p_i are transformed, pc_i = tanh(W p_i + b), to as many numbers as the second task has
   classes (equation 9);
2. word j asks with its second task's scores d_j, f_j = sum_i a_i pc_i with a = softmax(pc_i . d_j) (equations 7 and 8);
3. its final scores are W [f_j, d_j] + b (equation 10), and the loss is that of the first task's scores and of these.

Where the paper leaves something open: a word's p and d are those of its last piece, so other pieces are not asked.
Under the CT mask a word asks itself and the words before it alone, so the attention adds no look-ahead. The layer
begins as feature sharing: d_j passes unchanged, f_j with small random weights.
Shapes: B samples, S pieces, K classes of the first task, Q of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from caesura.models.networks.ct_transformer import UNSEEN, CTConfig, following_words
from caesura.models.networks.full_transformer import UNLIMITED
from caesura.models.networks.mpnet import MPNet
from caesura.worker.inference.network.full_network import PADDING_WORD

ORDERS = ("fs", "dp", "pd")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDependencyConfig(CTConfig):
    """The encoder's shape, and which task is predicted after which."""

    order: str = "pd"

    def __post_init__(self) -> None:
        """Refuse an order that there is not, and shapes that cannot be built."""
        CTConfig.__post_init__(self)
        if self.order not in ORDERS:
            raise ValueError(f"order is {self.order!r}, not one of {', '.join(ORDERS)}")


class DependentTask(nn.Module):
    """The second task's final layer."""

    def __init__(self, first: int, second: int) -> None:
        """Build it. first, second: how many classes either task has."""
        super().__init__()
        self.transformed = nn.Linear(first, second)
        self.final = nn.Linear(2 * second, second)
        with torch.no_grad():
            self.final.weight[:, second:] = torch.eye(second)
            self.final.bias.zero_()

    def forward(self, first: Tensor, second: Tensor, visible: Tensor) -> Tensor:
        """Return the final scores (B, S, Q) of the second task.

        first: scores (B, S, K) of the first task. second: scores (B, S, Q). visible: (B, S, S), true where the piece of
        the row may ask that of the column.
        """
        with torch.autocast(first.device.type, enabled=False):
            keys = torch.tanh(self.transformed(first.float().softmax(dim=-1)))  # (B, S, Q)
            asking = second.float()
            scores = asking @ keys.transpose(1, 2)  # (B, S, S)
            shares = torch.softmax(torch.where(visible, scores, UNSEEN), dim=-1) * visible  # the leading piece has none
            mixed = shares @ keys  # (B, S, Q)
            return self.final(torch.cat([mixed, asking], dim=-1))  # type: ignore[no-any-return]


class TaskDependency(MPNet):
    """An encoder in BERT's or MPNet's layout, masked or not, whose second task reads the first one's labels."""

    config: TaskDependencyConfig

    def __init__(self, config: TaskDependencyConfig) -> None:
        """Build the network with small random weights."""
        super().__init__(config)
        marks, tags = config.punctuation_classes, config.disfluency_classes
        if config.order != "fs":
            self.dependency = DependentTask(*((marks, tags) if config.order == "pd" else (tags, marks)))

    def fresh_parameters(self) -> list[nn.Parameter]:
        """Return the weights between the tasks: few, and at a random start whatever the encoder's."""
        return [] if self.config.order == "fs" else list(self.dependency.parameters())

    def forward(
        self, pieces: Tensor, word_index: Tensor, look_ahead: Sequence[int] | None = None
    ) -> tuple[Tensor, ...]:
        """Return the scores of ``pieces`` (B, S): punctuation (B, S, P), disfluency (B, S, Q), casing if any."""
        marks, tags, *others = super().forward(pieces, word_index, look_ahead)
        if self.config.order == "dp":
            marks = self.dependency(tags, marks, self._visible(word_index))
        elif self.config.order == "pd":
            tags = self.dependency(marks, tags, self._visible(word_index))
        return marks, tags, *others

    def _visible(self, word_index: Tensor) -> Tensor:
        """Return (B, S, S): last pieces of words are asked, under a mask those of the word itself and before it."""
        last = (word_index != following_words(word_index)) & (word_index > 0) & (word_index < PADDING_WORD)
        ahead = UNLIMITED if max(self.config.look_ahead) >= UNLIMITED else 0
        return last[:, None, :] & self.config.sees(word_index[:, :, None], word_index[:, None, :], ahead)
