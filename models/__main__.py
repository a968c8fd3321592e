"""Commands of the training side: ``python -m caesura.models prepare | train | export | evaluate``, and more."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from caesura.models.commands import (
    archives,
    balancing,
    calibration,
    capitals,
    closing,
    decoding_figures,
    harm_figures,
    label_figures,
    misheard_figures,
    model_files,
    packed_figures,
    papers,
    preparation,
    stop_lines,
    training,
    translation,
    tuning,
    unseeing,
)
from caesura.worker.errors import CaesuraError


class _TellsErrors(TyperGroup):
    """An error of ours is told in a line, by the command's name, and ends it with status 1."""

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except CaesuraError as error:
            raise SystemExit(f"{ctx.invoked_subcommand}: {error}") from error


app = typer.Typer(cls=_TellsErrors, help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
for commands in (
    preparation,
    training,
    translation,
    tuning,
    model_files,
    balancing,
    label_figures,
    misheard_figures,
    capitals,
    closing,
    decoding_figures,
    harm_figures,
    packed_figures,
    stop_lines,
    calibration,
    archives,
    papers,
    unseeing,
):
    commands.register(app)


if __name__ == "__main__":
    app()
