"""Options that every command with settings has, and what they are read into."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from worker.errors import FatalError
from worker.settings.tree import SettingSources

__all__ = ["ConfigOption", "SetOption", "origin_of"]

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file (TOML); else the one that CAESURA_CONFIG names.", show_default=False),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.FIELD=VALUE",
        help="One setting; wins over environment and file. `caesura settings` lists them.",
        show_default=False,
    ),
]


def origin_of(config: Path | None, assignments: list[str] | None) -> SettingSources:
    """Return where settings come from. Raises FatalError for a ``--set`` without ``=``."""
    flags: dict[str, str] = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals:
            name = re.split(r"[:\s]", assignment, maxsplit=1)[0]  # what follows may be a secret
            raise FatalError(f"--set {name}: it is written section.field=value")
        flags[name.strip()] = value
    return SettingSources(environ=os.environ, file=config, flags=flags)
