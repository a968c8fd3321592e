"""Options that several commands of the training side have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from models.languages import LANGUAGES

__all__ = [
    "CHECKPOINT",
    "DATA",
    "Checkpoint",
    "Data",
    "Language",
    "Vocabulary",
]

Vocabulary = Annotated[Path, typer.Option(help="WordPiece vocabulary, a piece a line.")]
Data = Annotated[Path, typer.Option(help="Folder of the packed text.")]
Language = Annotated[str, typer.Option(help=f"One of {', '.join(LANGUAGES)}.")]
Checkpoint = Annotated[Path, typer.Option(help="The checkpoint file; an existing one is gone on from.")]

DATA = Path("build/data")
CHECKPOINT = Path("build/en/checkpoint.pt")
