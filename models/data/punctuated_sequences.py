"""What SAPR learns to write: the pieces of a batch with the marks between them, and the label of each step.

A sample's target is its pieces but the leading one, with a word's run of marks after its last piece, between two
borders (Wang et al. 2018, section III-A). Numbers are those of ``sapr``. The step after a word whose
marks nobody knows is not scored, and none is written there.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from caesura.models.networks.sapr import SAPRConfig
from caesura.worker.inference.network.full_network import PADDING_WORD

_IGNORED = -100


@dataclass(frozen=True, slots=True)
class PunctuatedSequences:
    """Each (B, T): what the decoder is fed, words and labels, and what it should say next, -100 where nobody knows."""

    words: Tensor
    labels: Tensor
    next_words: Tensor
    next_labels: Tensor


def punctuated(pieces: Tensor, word_index: Tensor, classes: Tensor, config: SAPRConfig) -> PunctuatedSequences:
    """Return the targets of a batch.

    pieces, word_index: (B, S). classes: (B, S), of the runs at last pieces, negative elsewhere and where unknown.
    """
    device = pieces.device
    runs = torch.tensor([[*run, *[0] * (_longest(config) - len(run))] for run in config.runs], device=device)
    lengths = torch.tensor([len(run) for run in config.runs], device=device)
    real = (word_index > 0) & (word_index < PADDING_WORD)  # (B, S)
    known = classes.clamp(min=0)
    marks = torch.where(real & (classes >= 0), lengths[known], 0)
    taken = torch.where(real, 1 + marks, 0)
    places = taken.cumsum(dim=1) - taken  # (B, S): the step of each piece
    ends = taken.sum(dim=1)  # (B,)
    shape = (len(pieces), int(ends.max()) + 1)
    border = torch.full(shape, config.border_word, device=device)
    next_words, next_labels = border, torch.full_like(border, config.border_label)
    rows = torch.arange(len(pieces), device=device).unsqueeze(1).expand_as(pieces)
    next_words[rows[real], places[real]] = pieces[real]
    next_labels[rows[real], places[real]] = 0
    for k in range(runs.shape[1]):
        has = marks > k
        atoms = runs[known[has], k]
        next_words[rows[has], places[has] + 1 + k] = config.mark_word(atoms)
        next_labels[rows[has], places[has] + 1 + k] = atoms
    words = torch.cat([torch.full_like(next_words[:, :1], config.border_word), next_words[:, :-1]], dim=1)
    labels = torch.cat([torch.full_like(next_labels[:, :1], config.border_label), next_labels[:, :-1]], dim=1)
    past = torch.arange(shape[1], device=device) > ends.unsqueeze(1)
    hidden = past.clone()
    unknown = real & (classes < 0) & _ends_word(word_index)
    hidden[rows[unknown], places[unknown] + 1] = True
    return PunctuatedSequences(
        words, labels, next_words.masked_fill(past, _IGNORED), next_labels.masked_fill(hidden, _IGNORED)
    )


def _longest(config: SAPRConfig) -> int:
    return max(len(run) for run in config.runs)


def _ends_word(word_index: Tensor) -> Tensor:
    following = torch.cat([word_index[:, 1:], torch.full_like(word_index[:, :1], PADDING_WORD)], dim=1)
    return word_index != following
