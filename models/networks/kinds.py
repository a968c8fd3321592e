"""The networks by name: what ``--network`` chooses and what a checkpoint remembers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeAlias

from models.networks.blstm import BLSTM, BLSTMConfig
from models.networks.ct_transformer import CTConfig, CTTransformer
from models.networks.full_transformer import FullTransformer

__all__ = ["KINDS", "Network", "build", "describe"]

Network: TypeAlias = CTTransformer | BLSTM
"""Any of them: a Full-Transformer is a CT-Transformer too."""

KINDS = ("ct", "full", "blstm")


def build(kind: str, config: dict[str, Any]) -> Network:
    """Return a network of a kind, with a random start; ``config`` holds the fields of its configuration."""
    if kind == "ct":
        return CTTransformer(CTConfig(**config))
    if kind == "full":
        return FullTransformer(CTConfig(**config))
    if kind == "blstm":
        return BLSTM(BLSTMConfig(**config))
    raise ValueError(f"there is no network {kind!r}; there are {', '.join(KINDS)}")


def describe(network: Network) -> tuple[str, dict[str, Any]]:
    """Return the kind of ``network`` and its configuration: what ``build`` makes another one of."""
    if isinstance(network, BLSTM):
        return "blstm", asdict(network.config)
    return "full" if isinstance(network, FullTransformer) else "ct", asdict(network.config)
