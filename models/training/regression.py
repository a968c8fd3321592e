"""A linear head fitted to rows that are known, to its one best place: a regression, where training takes steps."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def regress(head: nn.Linear, rows: Tensor, known: Tensor, *, ridge: float) -> float:
    """Fit ``head`` to the classes ``known`` (N,) of ``rows`` (N, D) by L-BFGS; return the loss of a row, in nats.

    ridge: times the squared distance of the weights to where they began, which is beside the loss.
    """
    begun = head.weight.detach().clone()
    optimiser = torch.optim.LBFGS(head.parameters(), max_iter=500, history_size=20, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        return functional.cross_entropy(head(rows), known) + ridge * (head.weight - begun).square().sum()

    def step() -> float:
        optimiser.zero_grad()
        now = loss()
        now.backward()  # type: ignore[no-untyped-call]
        return float(now.detach())

    optimiser.step(step)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        return float(loss())
