"""AdamW for the dense weights, and its sparse form for the embedding, of which a small step meets few rows.

A GPU's steps are large and meet most of the rows that there are, and its memory is fast: there all weights are dense.
"""

from __future__ import annotations

import torch
from torch import nn

from caesura.models.networks.registry import Network
from caesura.models.networks.task_dependency import TaskDependency

_FRESH_TIMES = 20.0
"""How much faster the few weights between two tasks learn than the encoder that they stand on."""


class Optimisers:
    """The optimisers of one network; the learning rate is given anew at each step."""

    def __init__(self, network: Network, learning_rate: float, weight_decay: float, clip_norm: float) -> None:
        """Make the embedding's gradient sparse on a CPU. clip_norm: of the dense gradients together."""
        rows = network.embedding.weight
        network.embedding.sparse = rows.device.type == "cpu" and rows.requires_grad
        sparse = [rows] if network.embedding.sparse else []
        self._dense = [p for p in network.parameters() if p.requires_grad and not any(p is row for row in sparse)]
        self._clip_norm = clip_norm
        fresh = network.fresh_parameters() if isinstance(network, TaskDependency) else []
        others = [p for p in self._dense if not any(p is one for one in fresh)]
        groups = [{"params": others, "times": 1.0}, {"params": fresh, "times": _FRESH_TIMES}]
        self._all: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(
                [group for group in groups if group["params"]],
                lr=learning_rate,
                weight_decay=weight_decay,
                betas=(0.9, 0.98),
                fused=True,
            )
        ]
        if sparse:
            self._all.append(torch.optim.SparseAdam(sparse, lr=learning_rate))

    def step(self, learning_rate: float) -> None:
        """Clip the gradients, change the weights, and forget the gradients."""
        nn.utils.clip_grad_norm_(self._dense, self._clip_norm)
        for optimiser in self._all:
            for group in optimiser.param_groups:
                group["lr"] = learning_rate * group.get("times", 1.0)
            optimiser.step()
            optimiser.zero_grad()

    def state(self) -> list[dict[str, object]]:
        """Return what ``restore`` takes."""
        return [optimiser.state_dict() for optimiser in self._all]

    def restore(self, state: list[dict[str, object]]) -> None:
        """Go on from a state."""
        for optimiser, saved in zip(self._all, state, strict=True):
            optimiser.load_state_dict(saved)
