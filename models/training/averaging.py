"""The mean of some checkpoints' weights.

A network that is trained on from another gains where it was trained and loses elsewhere; halfway between the two, in
the space of weights, it often has what both have (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models").
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the other commands run without torch
    from caesura.models.networks.registry import Network


def write_average(paths: Sequence[Path], out: Path) -> None:
    """Write the mean of the networks of ``paths``; it tells of all corpora that any of them has learnt from.

    ValueError for fewer than two, for networks of different shapes, and where ``out`` is there already.
    """
    from caesura.models.networks.checkpoints import learnt_from, load_any_network, write_checkpoint  # noqa: PLC0415 - see above

    if len(paths) < 2:
        raise ValueError("a mean is of two checkpoints at least")
    if out.exists():
        raise ValueError(f"{out} is there already")
    networks = [load_any_network(path) for path in paths]
    for path, network in zip(paths[1:], networks[1:], strict=True):
        if _form(network) != _form(networks[0]):
            raise ValueError(f"{path} holds another network than {paths[0]}: {_form(network)}")
    mix(networks, [1 / len(networks)] * len(networks))
    corpora = dict.fromkeys(corpus for path in paths for corpus in learnt_from(path))
    write_checkpoint(out, networks[0], {"corpora": list(corpora)})


def _form(network: Network) -> tuple[str, dict[str, Any]]:
    """Return what networks must have alike to have a mean; how much is left out in training is none of it."""
    from caesura.models.networks.registry import describe  # noqa: PLC0415 - see above

    kind, config = describe(network)
    return kind, {name: value for name, value in config.items() if name != "dropout"}


def mix(networks: Sequence[Network], shares: Sequence[float]) -> None:
    """Give the first network the sum of all their weights, each by its share; they are of one shape."""
    import torch  # noqa: PLC0415

    states = [network.state_dict() for network in networks]
    mixed = {
        name: torch.stack([share * state[name].double() for share, state in zip(shares, states, strict=True)])
        .sum(dim=0)
        .to(weights.dtype)
        for name, weights in states[0].items()
    }
    networks[0].load_state_dict(mixed)
