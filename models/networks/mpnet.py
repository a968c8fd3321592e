"""MPNet: the layers of a CT-Transformer with learned relative positions besides, as MPNet-base has them.

It is for teachers and for comparisons at any size, not for export. ``look_ahead`` masks as it does in a CT-Transformer;
a teacher has ``UNLIMITED`` in each layer. The relative positions are those of T5 (Raffel et al. 2020, section 2.1): a
distance falls into one of 32 buckets, half of them for either side, exact up to 7 and then ever wider up to 128, and
every bucket has a number a head, the same in all layers, that is added to the scores.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from caesura.models.networks.ct_transformer import UNSEEN, CTConfig, CTTransformer

_BUCKETS, _FARTHEST = 32, 128


def buckets(length: int) -> Tensor:
    """Return the bucket (S, S) of each key, in the columns, as each query, in the rows, sees it."""
    place = torch.arange(length)
    ahead = place[None, :] - place[:, None]
    side = _BUCKETS // 2
    exact = side // 2
    distance = ahead.abs()
    growth = torch.log(distance.clamp(min=1) / exact) / math.log(_FARTHEST / exact)
    wide = (exact + (growth * (side - exact)).long()).clamp(max=side - 1)
    return side * (ahead > 0) + torch.where(distance < exact, distance, wide)


class MPNet(CTTransformer):
    """A CT-Transformer whose scores depend on distances too."""

    def __init__(self, config: CTConfig) -> None:
        """Build the network with small random weights, and distances that make no difference yet."""
        super().__init__(config)
        self.relative = nn.Parameter(torch.zeros(_BUCKETS, config.heads))

    def mask(self, visible: Tensor) -> Tensor:
        """Return the relative positions' numbers (B, H, S, S) where ``visible`` (B, 1, S, S) is true."""
        added = self.relative[buckets(visible.shape[-1]).to(visible.device)]  # (S, S, H)
        whole = torch.where(visible, added.permute(2, 0, 1).unsqueeze(0), UNSEEN)
        device = whole.device.type  # once for all layers in the type that they add it in
        return whole.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else whole
