"""How networks are computed: in bfloat16 where the device has it, float32 elsewhere; layer by layer, or compiled.

A CPU without AVX-512 computes bfloat16 by detours, far slower than float32, and LSTMs not at all.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn


def quick_arithmetic(device: str) -> AbstractContextManager[object]:
    """Return the context that a forward pass belongs in. device: as PyTorch names its kind, cpu or cuda."""
    if device == "cpu" and not torch.ops.mkldnn._is_mkldnn_bf16_supported():  # noqa: SLF001 - nothing public tells
        return nullcontext()
    return torch.autocast(device, dtype=torch.bfloat16)


def compile_layers(network: nn.Module) -> None:
    """Have PyTorch compile each layer when it first runs, once for all layers and shapes; the weights stay as they are.

    What lies between the matrix products of a layer is then a few passes over memory in place of some thirty.
    """
    for part in network.children():
        if isinstance(part, nn.ModuleList):
            for layer in part:
                layer.compile(dynamic=True)
