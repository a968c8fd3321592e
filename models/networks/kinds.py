"""The networks by name: what ``--network`` chooses and what a checkpoint remembers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeAlias

from models.networks.blstm import BLSTM, BLSTMConfig
from models.networks.ct_transformer import CTConfig, CTTransformer
from models.networks.full_transformer import FullTransformer
from models.networks.mpnet import MPNet

__all__ = ["KINDS", "Network", "build", "describe"]

Network: TypeAlias = CTTransformer | BLSTM
"""Any of them: the Full-Transformer and MPNet are CT-Transformers too."""

KINDS = ("ct", "full", "mpnet", "blstm")
_TRANSFORMERS = {"ct": CTTransformer, "full": FullTransformer, "mpnet": MPNet}


def build(kind: str, config: dict[str, Any]) -> Network:
    """Return a network of a kind, with a random start; ``config`` holds the fields of its configuration."""
    if kind in _TRANSFORMERS:
        return _TRANSFORMERS[kind](CTConfig(**config))
    if kind == "blstm":
        return BLSTM(BLSTMConfig(**config))
    raise ValueError(f"there is no network {kind!r}; there are {', '.join(KINDS)}")


def describe(network: Network) -> tuple[str, dict[str, Any]]:
    """Return the kind of ``network`` and its configuration: what ``build`` makes another one of."""
    kind = next((name for name, of in _TRANSFORMERS.items() if type(network) is of), "blstm")
    return kind, asdict(network.config)
