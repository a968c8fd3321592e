"""Options of every command with settings, and their types."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from caesura.schemas.segments import NumberForm
from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import FORMATS, format_named
from caesura.worker.settings.sources import meant
from caesura.worker.settings.tree import SettingSources, open_settings


def settings_named(incomplete: str) -> list[tuple[str, str]]:
    """Return the settings whose name goes on as written, for the shell's completion: name and ``=``, what for."""
    return [(f"{leaf.path}=", leaf.description) for leaf in open_settings() if leaf.path.startswith(incomplete)]


ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file (TOML); by default the one in CAESURA_CONFIG.", show_default=False),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="One setting; wins over environment and file. `caesura settings` lists the names.",
        show_default=False,
        autocompletion=settings_named,
    ),
]


NumbersOption = Annotated[
    NumberForm,
    typer.Option("--numbers", metavar="FORM", help="digits: sure numbers as digits; words: as they were said."),
]


def _checked(name: str) -> str:
    try:
        return format_named(name).value
    except ValueError:
        raise typer.BadParameter(f"there are {', '.join(FORMATS)}") from None


def _formats_named(incomplete: str) -> list[str]:
    return [one.value for one in FORMATS if one.startswith(incomplete)]


FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        parser=_checked,
        autocompletion=_formats_named,
        help="Format of the file; auto: recognise it by its content. A wrong name lists all.",
    ),
]


def origin_of(config: Path | None, assignments: list[str] | None) -> SettingSources:
    """Return where settings come from. Raises FatalError for a ``--set`` without ``=``."""
    flags: dict[str, str] = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals:
            name = re.split(r"[:\s]", assignment, maxsplit=1)[0]  # what follows may be a secret
            paths = [leaf.path for leaf in open_settings()]
            known = "" if name in paths else meant(name, paths)
            raise FatalError(f"--set {name}: it is written section.field=value{known}")
        flags[name.strip()] = value
    return SettingSources(environ=os.environ, file=config, flags=flags)
