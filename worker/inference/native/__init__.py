"""The C kernels, compiled at installation where there is a C compiler (docs/engine.md), and their types."""

from __future__ import annotations

from importlib.util import find_spec


def is_compiled(kernels: str) -> bool:
    """Tell whether these kernels were compiled. A compiled module that cannot be loaded raises when it is imported."""
    return find_spec(f"{__name__}.{kernels}") is not None
