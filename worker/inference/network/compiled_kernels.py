"""Which parts of a stream are computed by what was compiled at installation (docs/engine.md)."""

from __future__ import annotations

from enum import Flag, auto


class CompiledKernels(Flag):
    """Without ``ATTENTION`` NumPy attends and Python plans; without ``PRODUCTS`` ONNX Runtime multiplies."""

    NONE = 0
    ATTENTION = auto()
    PRODUCTS = auto()
    ALL = ATTENTION | PRODUCTS
