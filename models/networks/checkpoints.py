"""Checkpoints: a network of any kind with what its training needs to go on, in one file that replaces an older one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.registry import Network, build, describe


def write_checkpoint(path: Path, network: Network, training: dict[str, Any]) -> None:
    """Write the kind, the configuration and the weights of ``network``, and the fields of ``training``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    kind, config = describe(network)
    torch.save({"kind": kind, "config": config, "network": network.state_dict()} | training, partial)
    partial.replace(path)


def read_checkpoint(path: Path, network: Network) -> dict[str, Any]:
    """Copy a checkpoint's weights into ``network``, and return all its fields.

    ValueError for another kind, and for another shape: the same weights may lie under another mask.
    """
    state = _read(path)
    kind, config = describe(network)
    if state["kind"] != kind:
        raise ValueError(f"{path} holds a network of the kind {state['kind']}, not {kind}")
    held = {name: value for name, value in state["config"].items() if name != "dropout"}
    other = [f"{name} {value}" for name, value in held.items() if config.get(name) != value]
    if other:
        raise ValueError(f"{path} holds another network than was asked for: its {', '.join(other)}")
    network.load_state_dict(state["network"])
    return state


def learnt_from(path: Path) -> tuple[str, ...]:
    """Return the names of the corpora that a checkpoint's network has learnt from; none where it does not tell.

    The weights are left on disk.
    """
    return tuple(_read(path, mapped=True).get("corpora", ()))


def load_any_network(path: Path) -> Network:
    """Return the network of a checkpoint, of whatever kind, on the CPU, ready to label."""
    state = _read(path)
    network = build(state["kind"], state["config"])
    network.load_state_dict(state["network"])
    return network.eval()


def load_network(path: Path) -> CTTransformer:
    """Return the CT- or Full-Transformer of a checkpoint, ready to label or to export; TypeError for another kind."""
    network = load_any_network(path)
    if not isinstance(network, CTTransformer):
        raise TypeError(f"{path} holds a network of the kind {describe(network)[0]}, not a Transformer")
    return network


def _read(path: Path, *, mapped: bool = False) -> dict[str, Any]:
    """Return the fields of a checkpoint; one from before there were kinds holds a CT-Transformer."""
    state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu", mmap=mapped)
    return {"kind": "ct"} | state
