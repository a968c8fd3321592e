"""``caesura train``: hands over to the training side, which the worker neither imports nor installs."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import typer

from worker.errors import FatalError

__all__ = ["train"]

_MODELS = __name__.removesuffix("worker.commands.train") + "models"
_NEEDED = (_MODELS, "torch", "onnx")


def train(context: typer.Context) -> None:
    """Train a shipped model further on a folder of your own text: `caesura train FOLDER --language en`.

    The same as `python -m models tune`, whose `--help` lists the options; docs/tutorial-own-text.md shows it from
    beginning to end. It needs the train extra (torch), which a worker does without: `make setup-train`
    in a checkout.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]  # found, never imported
    if missing:
        raise FatalError(
            f"training needs {', '.join(missing)}, not installed here: pip install '.[train]' in a checkout, "
            "or make setup-train in a checkout; then caesura train, or python -m models tune"
        )
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", _MODELS, "tune", *context.args])  # noqa: S606 - no shell
