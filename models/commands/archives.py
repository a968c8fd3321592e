"""Commands for a machine that is reached by little at a time: ``python -m caesura.models archive | unarchive``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from caesura.models.archives.text_archives import text_from, write_text
from caesura.models.data.packing import PackedText

_ENDING = ".archive"
_TEXT = ".npz"
_WEIGHTS = (".pt", ".safetensors")

WrittenTo = Annotated[Path, typer.Option(help="Folder to write to.", file_okay=False)]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("archive")(archive)
    app.command("unarchive")(unarchive)


def archive(
    *,
    of: Annotated[
        list[Path],
        typer.Option(
            help="Packed text (.npz), a checkpoint (.pt) or a start (.safetensors); may be repeated.",
            exists=True,
            dir_okay=False,
        ),
    ],
    folder: WrittenTo,
    bits: Annotated[int, typer.Option(help="Of a weight: 8, or 12 for weights that come home.")] = 12,
) -> None:
    """Make packed text and weights small: X.npz becomes X.npz.archive, a ninth of it, and X.pt a third of its weights.

    Text is the same to the last label when it is unpacked; weights are rounded, and have no optimiser's state.
    """
    from caesura.models.archives.weight_archives import BITS, write_weights  # noqa: PLC0415 - text travels without torch

    if bits not in BITS:
        raise typer.BadParameter(f"{bits} is none of {', '.join(map(str, BITS))}", param_hint="--bits")

    def make(path: Path) -> None:
        to = folder / (path.name + _ENDING)
        if path.suffix == _TEXT:
            write_text(to, PackedText.load(path))
        elif path.suffix in _WEIGHTS:
            write_weights(to, path, bits=bits)
        else:
            raise ValueError(f"{path} is none of {', '.join((_TEXT, *_WEIGHTS))}")
        print(f"{to} {to.stat().st_size / 2**20:.1f} MiB")

    _each(of, make, doing="packing")


def unarchive(
    *,
    of: Annotated[list[Path], typer.Option(help="An archive; may be repeated.", exists=True, dir_okay=False)],
    folder: WrittenTo,
) -> None:
    """Make of X.npz.archive X.npz again, of X.pt.archive a checkpoint that training begins at."""

    def unpack(path: Path) -> None:
        to = folder / path.name.removesuffix(_ENDING)
        if to.suffix == _TEXT:
            text_from(path).save(to)
        else:
            from caesura.models.archives.weight_archives import weights_from  # noqa: PLC0415 - see above

            weights_from(path, to)

    _each(of, unpack, doing="unpacking")


def _each(paths: list[Path], done: Callable[[Path], None], *, doing: str) -> None:
    """Do it to each, and end with a line where one is not what it should be."""
    for path in track(paths, description=doing):
        try:
            done(path)
        except ValueError as error:
            raise SystemExit(str(error)) from error
