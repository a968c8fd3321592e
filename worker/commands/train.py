"""``caesura train``: hands over to the training side, which the worker neither imports nor installs."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from shutil import get_terminal_size

import typer

from caesura.worker.commands.terminal import echo, write
from caesura.worker.errors import FatalError

_MODELS = "caesura.models"
_NEEDED = (_MODELS, "torch", "onnx")
_HELP = frozenset(("--help", "-h"))
_INSTALL = "pip install '.[train]' in a checkout, or make setup-train in a checkout"


def train(context: typer.Context) -> None:
    """Train a shipped model further on your own text.

    `caesura train FOLDER --language en` trains on a folder of text. docs/tutorial-own-text.md shows all steps. It needs
    the extra train (torch): `make setup-train` in a checkout. It is the same as `python -m caesura.models tune`.
    """
    missing = ", ".join(name for name in _NEEDED if find_spec(name) is None)  # found, never imported
    command = [sys.executable, "-P", "-m", _MODELS, "tune"]
    if not _HELP.isdisjoint(context.args):
        write(context.get_help() + "\n")
        if missing:
            echo(f"Its options are not listed here: {missing} is not installed. To have it: {_INSTALL}.")
        else:
            write(_help_of(command))
        raise typer.Exit
    if missing:
        raise FatalError(f"training needs {missing}, not installed here: {_INSTALL}; then run caesura train")
    sys.stdout.flush()
    os.execv(sys.executable, [*command, *context.args])  # noqa: S606 - no shell


def _help_of(command: list[str]) -> str:
    """Return what the command prints for ``--help``, as wide as this terminal. FatalError where it cannot be run."""
    plain = {"COLUMNS": str(get_terminal_size().columns), "TYPER_USE_RICH": "0"}
    asked, variables = [*command, "--help"], os.environ | plain
    done = subprocess.run(asked, env=variables, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode:
        raise FatalError(
            f"python -m caesura.models tune --help ended with status {done.returncode}: {done.stderr[-1000:]}"
        )
    return done.stdout
