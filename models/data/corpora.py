"""What every corpus has in common: where its text lies, the order that it is read in, and what it needs."""

from __future__ import annotations

import hashlib
import html
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from caesura.models.data.aligned_words import AlignedDocument

_SHORTEST_WORDS = 40
ASIDE = r"\([^)]*\)|\[[^\]]*\]"
"""Brackets hold notes of the transcribers, which are no speech."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRules:
    """What a corpus needs.

    verbatim: fillers and false starts are kept, so an untagged sentence may hide some.
    drop: what is no speech (stage directions, markup); it is cut out of each line.
    drop_lines: lines that are no speech at all. one_turn: line ends mean nothing.
    marks_a_word: documents with fewer or more marks a word are left out (machine-made, or no running text).
    """

    verbatim: bool = False
    drop: str = r"$^"
    drop_lines: str = r"$^"
    one_turn: bool = False
    marks_a_word: tuple[float, float] = (0.06, 0.35)


def place(document_name: str) -> int:
    """Return a number below 2**32 drawn from a document's name: its place in every order and split."""
    return int.from_bytes(hashlib.sha256(document_name.encode()).digest()[:4], "big")


def read_texts(corpora: Path, language: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield (document name, text) of ``corpora/<language>/<name>.jsonl.xz``."""
    with lzma.open(corpora / language / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["id"], html.unescape(record["text"])


def read_in_order(corpora: Path, language: str, name: str, keep: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Return the texts to be kept in an order of their own, always the same: any first part is a fair sample."""
    texts = (item for item in read_texts(corpora, language, name) if keep(item[0]))
    return sorted(texts, key=lambda item: place(item[0]))


def marked_well(document: AlignedDocument, rules: CorpusRules) -> bool:
    """Tell whether a document is running text with as many marks as its corpus should have."""
    low, high = rules.marks_a_word
    marks = sum(mark > 0 for mark in document.punctuation)
    return len(document.words) >= _SHORTEST_WORDS and low <= marks / len(document.words) <= high
