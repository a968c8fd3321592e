"""``caesura train``: hands over to the training side, which the worker neither imports nor installs."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from shutil import get_terminal_size

import typer

from caesura.worker.commands.terminal import echo
from caesura.worker.errors import FatalError

__all__ = ["train"]

_MODELS = "caesura.models"
_NEEDED = (_MODELS, "torch", "onnx")
_HELP = frozenset(("--help", "-h"))
_INSTALL = "pip install '.[train]' in a checkout, or make setup-train in a checkout"


def train(context: typer.Context) -> None:
    """Train a shipped model further on a folder of your own text: `caesura train FOLDER --language en`.

    The same as `python -m caesura.models tune`; docs/tutorial-own-text.md shows it as a whole. It needs the train
    extra (torch), which a worker does without: `make setup-train` in a checkout.
    """
    missing = ", ".join(name for name in _NEEDED if find_spec(name) is None)  # found, never imported
    command = [sys.executable, "-P", "-m", _MODELS, "tune"]
    if not _HELP.isdisjoint(context.args):
        echo(context.get_help())
        if missing:
            echo(f"Its options are not listed here: {missing} is not installed. To have it: {_INSTALL}.")
        else:
            echo(_help_of(command), nl=False)
        raise typer.Exit
    if missing:
        raise FatalError(f"training needs {missing}, not installed here: {_INSTALL}; then run caesura train")
    sys.stdout.flush()
    os.execv(sys.executable, [*command, *context.args])  # noqa: S606 - no shell


def _help_of(command: list[str]) -> str:
    """Return what the command prints for ``--help``, as wide as this terminal. FatalError where it cannot be run."""
    width = {"COLUMNS": str(get_terminal_size().columns)}
    asked, variables = [*command, "--help"], os.environ | width
    done = subprocess.run(asked, env=variables, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode:
        raise FatalError(
            f"python -m caesura.models tune --help ended with status {done.returncode}: {done.stderr[-1000:]}"
        )
    return done.stdout
