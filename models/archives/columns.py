"""Named arrays in one small file: a zip of ``.npy`` members, as ``numpy.savez`` writes them; ``numpy.load`` reads it.

Text lies under LZMA, which makes it a fifth smaller than deflate does; weights, in which nothing repeats, under
deflate, which is read many times as fast.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = Mapping[str, NDArray[Any]]


def write_columns(path: Path, columns: Columns, method: int) -> None:
    """Write the arrays, in place of an older file. method: ``zipfile.ZIP_LZMA`` or another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", method) as packed:
        for name, column in columns.items():
            with packed.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(column), allow_pickle=False)
    partial.replace(path)


def read_columns(path: Path) -> Columns:
    """Return the arrays. ValueError: the file is none of these, or cut short."""
    try:
        with zipfile.ZipFile(path) as packed:
            return {member.removesuffix(".npy"): _array(packed, member) for member in packed.namelist()}
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is no archive, or not all of one: {error}") from error


def _array(packed: zipfile.ZipFile, member: str) -> NDArray[Any]:
    with packed.open(member) as column:
        array: NDArray[Any] = np.lib.format.read_array(column, allow_pickle=False)
        return array
