"""Corpora made up on the spot, in the form that the readers take."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path


def write_corpus(corpora: Path, name: str, documents: dict[str, str], *, language: str = "en") -> None:
    (corpora / language).mkdir(parents=True, exist_ok=True)
    with lzma.open(corpora / language / f"{name}.jsonl.xz", "wt", encoding="utf-8") as file:
        for key, text in documents.items():
            file.write(json.dumps({"id": key, "text": text}) + "\n")


def write_archive(corpora: Path, name: str, files: dict[str, str]) -> None:
    (corpora / "labelled").mkdir(parents=True, exist_ok=True)
    with tarfile.open(corpora / "labelled" / f"{name}.tar.xz", "w:xz") as archive:
        for key, text in files.items():
            entry = tarfile.TarInfo(key)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
