"""Commands of the training side: ``python -m models prepare | train | export | evaluate``, and more."""

from __future__ import annotations

import typer

from models.commands import (
    balancing,
    capitals,
    decoding_figures,
    label_figures,
    model_files,
    packed_figures,
    papers,
    preparation,
    training,
    tuning,
)

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
for commands in (
    preparation,
    training,
    tuning,
    model_files,
    balancing,
    label_figures,
    capitals,
    decoding_figures,
    packed_figures,
    papers,
):
    commands.register(app)


if __name__ == "__main__":
    app()
