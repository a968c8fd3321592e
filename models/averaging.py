"""The mean of some checkpoints' weights: ``python -m models average``.

A network that is trained on from another gains where it was trained and loses elsewhere; halfway between the two, in
the space of weights, it often has what both have (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models").
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["average_checkpoints", "register", "write_average"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("average")(average_checkpoints)


def average_checkpoints(
    *,
    of: Annotated[list[Path], typer.Option("--of", help="A checkpoint; twice at least, and of one shape.")],
    checkpoint: Annotated[Path, typer.Option(help="The file to write.")],
) -> None:
    """Write the mean of the weights of checkpoints, a network like them, to begin at or to export."""
    try:
        write_average(of, checkpoint)
    except ValueError as error:
        raise SystemExit(f"average: {error}") from error
    print(f"{', '.join(map(str, of))} -> {checkpoint}")


def write_average(paths: Sequence[Path], out: Path) -> None:
    """Write the mean of the networks of ``paths``; it tells of all corpora that any of them has learnt from.

    ValueError for fewer than two, for networks of different shapes, and where ``out`` is there already.
    """
    import torch  # noqa: PLC0415 - the other commands run without it

    from models.checkpoints import learnt_from, load_any_network, write_checkpoint  # noqa: PLC0415
    from models.networks.kinds import describe  # noqa: PLC0415

    if len(paths) < 2:
        raise ValueError("a mean is of two checkpoints at least")
    if out.exists():
        raise ValueError(f"{out} is there already")
    networks = [load_any_network(path) for path in paths]
    for path, network in zip(paths[1:], networks[1:], strict=True):
        if describe(network) != describe(networks[0]):
            raise ValueError(f"{path} holds another network than {paths[0]}: {describe(network)}")
    states = [network.state_dict() for network in networks]
    mean = {
        name: torch.stack([state[name].double() for state in states]).mean(dim=0).to(weights.dtype)
        for name, weights in states[0].items()
    }
    networks[0].load_state_dict(mean)
    corpora = dict.fromkeys(corpus for path in paths for corpus in learnt_from(path))
    write_checkpoint(out, networks[0], {"corpora": list(corpora)})
