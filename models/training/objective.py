"""What training minimises: one loss for human labels, a teacher's soft labels (distillation) and its hard ones.

A word has, for each head, a label that people gave or none, and what a teacher said of it, class probabilities t, or
nothing. Of these one target is made. With K classes and p the network's probabilities:

1. the label y is the human one; where there is none, the teacher's likeliest class; where there is neither, the word is
   not part of the loss;
2. it is smoothed: (1 - beta) y + beta / K, with one beta for human and another for pseudo labels (discriminative
   self-training, Chen et al. 2021, equation 5);
3. the loss of a word that the teacher spoke of is (1 - a) CE(smoothed y, p) + a KL(t, p), of another CE(smoothed y, p);
4. a word whose label is the teacher's weighs alpha, another 1 (equation 3), times a weight of its own if there is one;
5. the loss is the sum over the words divided by the number of words that are part of it.

So a = 0.5 is distillation as half CE and half KL; a = 0 with alpha and two betas is the self-training of that paper;
alpha = 0 leaves words of unknown label out, whatever the teacher says.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """taught_share: a. pseudo_weight: alpha. smoothing, pseudo_smoothing: beta of human and of pseudo labels."""

    taught_share: float = 0.0
    pseudo_weight: float = 1.0
    smoothing: float = 0.0
    pseudo_smoothing: float = 0.0

    def __post_init__(self) -> None:
        """Refuse shares outside 0 … 1 and a negative weight."""
        shares = (self.taught_share, self.smoothing, self.pseudo_smoothing)
        if min(shares) < 0 or max(shares) > 1 or self.pseudo_weight < 0:
            raise ValueError(f"{self} has a share outside 0 … 1 or a negative weight")


def head_loss(
    scores: Tensor, labels: Tensor, taught: Tensor | None, objective: Objective, weights: Tensor | None = None
) -> Tensor:
    """Return the loss of one head; see the head of the file.

    scores: (B, S, K). labels: (B, S), negative where no label is known or no word ends. taught: (B, S, K), a row of
    zeros where the teacher said nothing; None where it said nothing of any word. weights: (B, S), of the words; None:
    1 each.
    """
    logs = functional.log_softmax(scores.float(), dim=-1)
    taught = torch.zeros_like(logs) if taught is None else taught
    known, told = labels >= 0, taught.sum(-1) > 0
    taught = taught / taught.sum(-1, keepdim=True).clamp(min=1e-6)  # half precision sums to about 1
    weight = known.float() + objective.pseudo_weight * (told & ~known).float()
    if weights is not None:
        weight = weight * weights
    label = torch.where(known, labels, taught.argmax(-1))
    beta = torch.where(known, objective.smoothing, objective.pseudo_smoothing).unsqueeze(-1)
    smoothed = (1 - beta) * functional.one_hot(label, scores.shape[-1]) + beta / scores.shape[-1]
    share = objective.taught_share * told.float().unsqueeze(-1)
    target = (1 - share) * smoothed + share * taught
    divergence = share * torch.xlogy(taught, taught) - target * logs  # the first part makes CE with t the KL
    return (weight * divergence.sum(-1)).sum() / (weight > 0).sum().clamp(min=1)
