"""In what numbers networks are computed: bfloat16 where the device has it, float32 elsewhere.

A CPU without AVX-512 computes bfloat16 by detours, far slower than float32, and LSTMs not at all.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

__all__ = ["quick_arithmetic"]


def quick_arithmetic(device: str) -> AbstractContextManager[object]:
    """Return the context that a forward pass belongs in. device: as PyTorch names its kind, cpu or cuda."""
    if device == "cpu" and not torch.ops.mkldnn._is_mkldnn_bf16_supported():  # noqa: SLF001 - nothing public tells
        return nullcontext()
    return torch.autocast(device, dtype=torch.bfloat16)
