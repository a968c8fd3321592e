"""The open English corpora: one reader, and for each corpus what its text needs.

Only corpora whose licence allows a trained model to be given away stand here (``models/shipped/en/MODEL_CARD.md``
lists the licences). Where they lie is settable: ``CAESURA_CORPORA`` or ``--corpora``.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from models.data.aligned import UNKNOWN, AlignedDocument, move_marks
from models.data.derived import derive_tags
from models.data.marks import read_marks

__all__ = ["ENGLISH_CORPORA", "CorpusRules", "place", "read_corpus", "read_texts"]


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


_MARKUP = r"\*\*|__|`|\[[^\]]*\]|<[^>]*>|https?://\S+"
ENGLISH_CORPORA: dict[str, CorpusRules] = {
    "changelog": CorpusRules(drop=_MARKUP, drop_lines=r"^(#|\||!\[|<)"),
    "crd3": CorpusRules(verbatim=True, drop=r"\([^)]*\)|\[[^\]]*\]"),
    "cabnc": CorpusRules(verbatim=True, drop=r"\(\([^)]*\)\)|[&+<>\[\]]"),
    "earnings21": CorpusRules(verbatim=True, drop=r"<[^>]*>"),
    "earnings22": CorpusRules(verbatim=True, drop=r"<[^>]*>"),
    "ami": CorpusRules(verbatim=True, drop=r"<[^>]*>|_"),
    "bitcointranscripts": CorpusRules(
        drop=r"\[([^\]]*)\]\([^)]*\)|" + _MARKUP + r"|^(Q|A|[A-Z][\w. ]{0,30}):\s",
        drop_lines=r"^(#|\||!\[|<|[-*>]\s|\d+\.|Speaker|Slides|Video|Transcript|.{0,60}\d\d:\d\d|.{0,40}$)",
        marks_a_word=(0.08, 0.2),
    ),
    "eltec_novels_fifth": CorpusRules(one_turn=True, drop=r"_|\*", drop_lines=r"^[^a-z]*$"),
}


def place(document_name: str) -> int:
    """Return a number below 2**32 drawn from a document's name: its place in every order and split."""
    return int.from_bytes(hashlib.sha256(document_name.encode()).digest()[:4], "big")


def read_texts(corpora: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (document name, text) of ``corpora/en/<name>.jsonl.xz``."""
    with lzma.open(corpora / "en" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["id"], record["text"]


def read_corpus(corpora: Path, name: str, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
    """Yield the documents of one open corpus whose name is to be kept, with marks and the tags that the text shows.

    They come in an order of their own, the same every time, so that any first part is a fair sample.
    """
    rules = ENGLISH_CORPORA[name]
    low, high = rules.marks_a_word
    for document_name, text in _in_order(read_texts(corpora, name), keep):
        document = _document(name, document_name, text, rules)
        marks = sum(mark > 0 for mark in document.punctuation)
        if len(document.words) >= 40 and low <= marks / len(document.words) <= high:
            yield document


def _in_order(texts: Iterable[tuple[str, str]], keep: Callable[[str], bool]) -> list[tuple[str, str]]:
    return sorted((item for item in texts if keep(item[0])), key=lambda item: place(item[0]))


def _document(corpus: str, name: str, text: str, rules: CorpusRules) -> AlignedDocument:
    drop, drop_lines = re.compile(rules.drop), re.compile(rules.drop_lines)
    lines = [line for line in text.splitlines() if line.strip() and not drop_lines.search(line)]
    if rules.one_turn:
        lines = [" ".join(lines)]
    document = AlignedDocument(corpus, name)
    for line in lines:
        words = read_marks(drop.sub(" ", line))
        for word, tag in zip(words, derive_tags(words, verbatim=rules.verbatim), strict=True):
            mark = UNKNOWN if word.fragment and word.mark == 0 else word.mark
            document.add(word.view, mark, tag)
        if words:
            document.turn_ends.add(len(document.words) - 1)
    move_marks(document)
    return document
