"""Options that several commands of the training side have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray

import caesura.models as package
from caesura.models.languages.registry import LANGUAGES

if TYPE_CHECKING:  # the other commands run without torch
    from caesura.models.training.causal_reader import Reader

Vocabulary = Annotated[Path, typer.Option(help="WordPiece vocabulary, a piece a line.", exists=True, dir_okay=False)]
Corpora = Annotated[
    Path,
    typer.Option(
        envvar="CAESURA_CORPORA", help="Folder of the corpora (en/*.jsonl.xz …).", exists=True, file_okay=False
    ),
]
Corpus = Annotated[
    list[str] | None, typer.Option(help="A corpus's name; may be repeated; all of the language's mix if none is given.")
]
Models = Annotated[Path, typer.Option(help="The models folder.", show_default="shipped")]
ActiveModels = Annotated[
    list[str] | None, typer.Option("--active", help="A model of the folder, by id; may be repeated.")
]
Data = Annotated[Path, typer.Option(help="Folder of the packed text.")]
LanguageCode = Annotated[str, typer.Option(help=f"One of {', '.join(LANGUAGES)}.")]
CheckpointFile = Annotated[Path, typer.Option(help="The checkpoint file; training goes on from one that exists.")]

CORPORA = Path("../shared/corpora")
SHIPPED = Path(package.__path__[0]) / "shipped"
DATA = Path("build/data")
CHECKPOINT = Path("build/en/checkpoint.pt")


def packed_files(data: Path, corpora: Sequence[str]) -> dict[str, Path]:
    """Return the file of each corpus's packed text; refuse with the names of those that have none."""
    files = {corpus: data / f"{corpus}.npz" for corpus in corpora}
    if missing := [corpus for corpus, path in files.items() if not path.exists()]:
        raise typer.BadParameter(
            f"{data} has no packed text of {', '.join(missing)}: prepare packs it", param_hint="--data"
        )
    return files


def mark_constants(given: str, classes: int) -> NDArray[np.float64]:
    """Return constants of the marks as they were given (0.2,0.2,0.2), that of no mark before them; refuse others."""
    try:
        numbers = [0.0, *map(float, given.split(","))]
    except ValueError:
        raise typer.BadParameter(
            f"constants are numbers between commas, not {given!r}", param_hint="--constants"
        ) from None
    if len(numbers) != classes:
        raise typer.BadParameter(f"there are {classes - 1} marks, not {len(numbers) - 1}", param_hint="--constants")
    return np.array(numbers)


def asked_reader(weights: Path) -> Reader:
    """Return the reader of GGUF weights; refuse where what reads them is not installed."""
    from caesura.models.training.causal_reader import opened_reader  # noqa: PLC0415 - the other commands run without torch

    try:
        return opened_reader(weights, threads=2)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--reader") from error
