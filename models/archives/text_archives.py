"""Packed text as an archive: about a byte and a half a word in place of fourteen, and not a label other than it was."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from caesura.models.archives.columns import read_columns, write_columns
from caesura.models.data.packing import PackedText

_MOST_PIECES = np.iinfo(np.uint8).max


def write_text(path: Path, text: PackedText) -> None:
    """Write a packed text. ValueError where a word has more pieces than a byte counts."""
    sizes = np.diff(text.first_piece)
    if text.words and sizes.max() > _MOST_PIECES:
        raise ValueError(f"a word of {sizes.max()} pieces, where an archive takes {_MOST_PIECES}")
    columns = {name: getattr(text, name) for name in PackedText.__slots__ if name != "first_piece"}
    write_columns(path, columns | {"sizes": sizes.astype(np.uint8)}, zipfile.ZIP_LZMA)


def text_from(path: Path) -> PackedText:
    """Return the text of an archive. ValueError where it is none."""
    columns = dict(read_columns(path))
    try:
        columns["first_piece"] = np.concatenate([[0], np.cumsum(columns.pop("sizes"), dtype=np.int64)])
        return PackedText(**{name: columns[name] for name in PackedText.__slots__})
    except KeyError as error:
        raise ValueError(f"{path} is no archive of text: it has no {error.args[0]}") from error
