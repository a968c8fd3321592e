"""A model folder of files as they are given, its manifest right: a builder for the tests of what is wrong in one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

PIECES = "[UNK]\n[CLS]\na\nb\n"


def model(
    folder: Path,
    name: str = "en",
    *,
    network_file: bytes = b"no network",
    vocabulary_file: bytes = PIECES.encode(),
    **changes: Any,  # noqa: ANN401 - a field may be anything
) -> Path:
    """Write a model folder of these files, whose manifest is right but for ``changes``."""
    place = folder / name
    place.mkdir(parents=True)
    files = {"weights.onnx": network_file, "vocabulary.txt": vocabulary_file}
    for file, content in files.items():
        (place / file).write_bytes(content)
    manifest = {
        "manifest": "1.0",
        "id": name,
        "version": "1",
        "language": "en",
        "active": True,
        "network": "ct_transformer",
        "weights": "weights.onnx",
        "files": [
            {"name": file, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for file, content in files.items()
        ],
        "look_ahead": [0, 9],
        "positions": "sinusoidal",
        "punctuation": ["none", "comma", "period", "question"],
        "disfluency": ["O", "B-RM", "I-RM", "B-IM", "I-IM"],
        "wordpiece": {"vocabulary": "vocabulary.txt", "max_pieces": 8, "leading": "[CLS]", "unknown": "[UNK]"},
        "licence": "CC0-1.0",
        "trained_on": [],
    }
    (place / "manifest.json").write_text(json.dumps(manifest | changes), encoding="utf-8")
    return place
