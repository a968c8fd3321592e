"""Corpora to packed training and held-out text: read, check for contamination, insert disfluencies, pack, keep.

A document is held out by its name alone (one in forty of each corpus; two of rev16's; Disfl-QA's own test part), so
the split is the same in every run. Packed corpora are kept, one file each: an interrupted preparation goes on.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from models.data.aligned import AlignedDocument
from models.data.contamination import MAX_SHARED, SharedText
from models.data.disfluencies import insert_disfluencies
from models.data.disfluent_pairs import read_disfl_qa, read_rev16
from models.data.english_corpora import ENGLISH_CORPORA, place, read_corpus
from models.data.iwslt import read_iwslt
from models.data.packing import PackedText, pack
from worker.adapters.wordpiece import WordPiece
from worker.core.view import model_view

__all__ = ["DEFAULT_MIX", "CorpusCounts", "held_out", "prepare", "training_documents"]

DEFAULT_MIX = {
    "changelog": 2_600_000,
    "crd3": 800_000,
    "cabnc": 500_000,
    "earnings21": 300_000,
    "earnings22": 500_000,
    "ami": 250_000,
    "bitcointranscripts": 500_000,
    "eltec_novels_fifth": 200_000,
    "rev16": 200_000,
    "disfl_qa": 150_000,
}
"""How many words of each corpus are trained on at most: towards speech, and no more than two CPU cores can read."""

_DISFLUENT_SHARE = 0.45
_REV16_HELD_OUT = ("17.nlp", "21.nlp")


@dataclass(slots=True)
class CorpusCounts:
    """What was read of a corpus. shared: documents with a short overlap with a test set; dropped: with a long one."""

    corpus: str
    documents: int = 0
    words: int = 0
    inserted_words: int = 0
    shared: int = 0
    dropped: int = 0


def is_held_out(corpus: str, document_name: str) -> bool:
    """Tell whether a document is kept from training."""
    if corpus == "rev16":
        return document_name.endswith(_REV16_HELD_OUT)
    return place(document_name) % 40 == 0


def _read(corpora: Path, corpus: str, *, training: bool) -> Iterator[AlignedDocument]:
    """Yield the training documents, or the held-out ones, of a corpus."""

    def keep(document_name: str) -> bool:
        return is_held_out(corpus, document_name) != training

    if corpus == "rev16":
        return read_rev16(corpora, keep)
    if corpus == "disfl_qa":
        return read_disfl_qa(corpora, "train" if training else "test")
    return read_corpus(corpora, corpus, keep)


def training_documents(
    corpora: Path, corpus: str, tests: SharedText, max_words: int, counts: CorpusCounts, *, seed: int
) -> Iterator[AlignedDocument]:
    """Yield training documents, with disfluencies inserted where the corpus is fluent; count them in ``counts``."""
    for document in _read(corpora, corpus, training=True):
        shared = tests.shared(document.words)
        counts.shared += 0 < shared <= MAX_SHARED
        if shared > MAX_SHARED:
            counts.dropped += 1
            continue
        counts.documents += 1
        counts.words += len(document.words)
        if corpus in ENGLISH_CORPORA and not ENGLISH_CORPORA[corpus].verbatim:
            rng = random.Random(seed ^ place(document.name))
            disfluent = insert_disfluencies(document, rng, share=_DISFLUENT_SHARE)
            counts.inserted_words += len(disfluent.words) - len(document.words)
            yield disfluent
        else:
            yield document
        if counts.words >= max_words:
            return


def held_out(corpora: Path, corpus: str, *, max_words: int) -> list[AlignedDocument]:
    """Return the first ``max_words`` words of a corpus's held-out documents."""
    kept: list[AlignedDocument] = []
    for document in _read(corpora, corpus, training=False):
        if max_words <= 0:
            break
        kept.append(document.first(max_words))
        max_words -= len(document.words)
    return kept


def prepare(
    corpora: Path, out: Path, tokenizer: WordPiece, mix: dict[str, int], *, seed: int
) -> Iterator[CorpusCounts]:
    """Pack each corpus of ``mix`` to ``out/<corpus>.npz`` unless that is there; yield the counts of each."""
    names = ("test2011", "test2011asr")
    tests = SharedText([model_view(word) for word in read_iwslt(corpora, name).words] for name in names)
    for corpus, max_words in mix.items():
        path, report = out / f"{corpus}.npz", out / f"{corpus}.json"
        if path.exists() and report.exists():
            yield CorpusCounts(**json.loads(report.read_text()))
            continue
        counts = CorpusCounts(corpus)
        packed = pack(training_documents(corpora, corpus, tests, max_words, counts, seed=seed), tokenizer)
        packed.save(path)
        report.write_text(json.dumps(asdict(counts)))
        yield counts


def load(out: Path, mix: dict[str, int]) -> PackedText:
    """Return the packed text of every corpus of ``mix``."""
    return PackedText.joined([PackedText.load(out / f"{corpus}.npz") for corpus in mix])
