"""Folders of made-up text, in files as a user has them."""

from __future__ import annotations

import random
from pathlib import Path

ENDINGS = ("today.", "left.", "is it?")


def paragraph(sentences: int, *, seed: int) -> str:
    """Return made-up sentences in which the last words give the mark away, and "and" always follows a comma."""
    rng = random.Random(seed)
    made: list[str] = []
    for _ in range(sentences):
        words = [rng.choice(("the", "cat", "dog", "saw", "a", "bird")) for _ in range(rng.randint(2, 6))]
        if rng.random() < 0.5:
            words[-1] += ","
            words += ["and", rng.choice(("we", "then"))]
        made.append(" ".join([*words, rng.choice(ENDINGS)]).capitalize())
    return " ".join(made)


def write_files(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_folder(folder: Path, *, files: int = 12, paragraphs: int = 8) -> Path:
    return write_files(
        folder,
        {
            f"talk-{number}.txt": "\n\n".join(paragraph(4, seed=100 * number + k) for k in range(paragraphs))
            for number in range(files)
        },
    )
