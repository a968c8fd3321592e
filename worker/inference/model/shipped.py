"""Where the models are that came with this installation; the package that holds them is found, never imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

__all__ = ["shipped_models"]

_MODELS = "caesura.models"


def shipped_models() -> Path | None:
    """Return the folder of the models that are shipped; None where this installation has none."""
    spec = find_spec(_MODELS)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        return Path(folder) / "shipped"
    return None
