"""Corpora to packed training and held-out text: read, check for contamination, insert disfluencies, pack, keep.

Packed corpora are kept, one file each: an interrupted preparation goes on. What is read is in ``recipes``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.corpora import place
from caesura.models.data.packing import pack
from caesura.models.data.recipes import Recipe
from caesura.models.data.recogniser_errors import DocumentErrors
from caesura.worker.inference.model.wordpiece import WordPiece

MAX_SHARED = 3
_N = 12


def ngrams(words: Sequence[str]) -> set[int]:
    """Return the hashes of the distinct 12-grams of ``words``."""
    return {hash(tuple(words[i : i + _N])) for i in range(len(words) - _N + 1)}


class SharedText:
    """The 12-grams of the test sets."""

    def __init__(self, tests: Iterable[Sequence[str]]) -> None:
        """Take the words of each test set, in the form that the training words have."""
        self._tests: set[int] = set()
        for words in tests:
            self._tests |= ngrams(words)

    def shared(self, words: Sequence[str]) -> int:
        """Return how many distinct 12-grams of ``words`` stand in a test set."""
        return len(ngrams(words) & self._tests)


@dataclass(slots=True)
class CorpusCounts:
    """What was read of a corpus. shared: documents with a short overlap with a test set; dropped: with a long one."""

    corpus: str
    documents: int = 0
    words: int = 0
    inserted_words: int = 0
    shared: int = 0
    dropped: int = 0


def training_documents(
    corpora: Path, recipe: Recipe, corpus: str, tests: SharedText, max_words: int, counts: CorpusCounts, *, seed: int
) -> Iterator[AlignedDocument]:
    """Yield training documents, with disfluencies inserted where the corpus is fluent; count them in ``counts``."""
    for document in recipe.documents(corpora, corpus, training=True):
        shared = tests.shared(document.words)
        counts.shared += 0 < shared <= MAX_SHARED
        if shared > MAX_SHARED:
            counts.dropped += 1
            continue
        counts.documents += 1
        counts.words += len(document.words)
        if corpus in recipe.fluent:
            disfluent = recipe.disfluent(document, random.Random(seed ^ place(document.name)))
            counts.inserted_words += len(disfluent.words) - len(document.words)
            yield disfluent
        else:
            yield document
        if counts.words >= max_words:
            return


def held_out(recipe: Recipe, corpora: Path, corpus: str, *, max_words: int) -> list[AlignedDocument]:
    """Return the first ``max_words`` words of a corpus's held-out documents."""
    kept: list[AlignedDocument] = []
    for document in recipe.documents(corpora, corpus, training=False):
        if max_words <= 0:
            break
        kept.append(document.first(max_words))
        max_words -= len(document.words)
    return kept


def prepare_held_out(
    recipe: Recipe,
    corpora: Path,
    out: Path,
    tokenizer: WordPiece,
    corpora_names: Sequence[str],
    *,
    max_words: int,
    errors: DocumentErrors | None = None,
) -> Iterator[CorpusCounts]:
    """Pack the held-out documents of some corpora, ``max_words`` of each; yield what was read of each."""
    for corpus in corpora_names:
        documents = held_out(recipe, corpora, corpus, max_words=max_words)
        counts = CorpusCounts(corpus, len(documents), sum(len(document.words) for document in documents))
        heard = documents if errors is None else errors.heard(documents, seed=1)
        pack(heard, tokenizer).save(out / f"{corpus}.npz")
        yield counts


def prepare(
    recipe: Recipe,
    corpora: Path,
    out: Path,
    tokenizer: WordPiece,
    mix: dict[str, int],
    *,
    seed: int,
    errors: DocumentErrors | None = None,
) -> Iterator[CorpusCounts]:
    """Pack each corpus of ``mix`` to ``out/<corpus>.npz`` unless that is there; yield the counts of each."""
    tests = SharedText(recipe.tests(corpora))
    for corpus, max_words in mix.items():
        path, report = out / f"{corpus}.npz", out / f"{corpus}.json"
        if path.exists() and report.exists():
            yield CorpusCounts(**json.loads(report.read_text()))
            continue
        counts = CorpusCounts(corpus)
        documents = training_documents(corpora, recipe, corpus, tests, max_words, counts, seed=seed)
        if errors is not None:
            documents = errors.heard(documents, seed=seed)
        pack(documents, tokenizer).save(path)
        report.write_text(json.dumps(asdict(counts)))
        yield counts
