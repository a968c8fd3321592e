"""How well words are written: F1 of capitals inside sentences, names apart, beside two ways that need no network.

1. A word is scored where its text tells how it is written: inside a sentence, or at its start where that says
   something all the same ("BBC"). "I" and its kin are left out, for rendering writes them.
2. A capital is found where the class is the same: ``capital_first`` or ``all_capitals``; ``overall`` is over both.
3. The words are told apart by what training text does with them inside sentences (``Forms``): *names* it never writes
   small, *both ways* it does now and then, *unseen* it has not.
4. The two ways beside it: *sentence starts alone*, which finds no capital inside; and *likeliest form*, which writes
   each word as training text does most often, and an unseen one small.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.preparation import held_out
from caesura.models.data.recipes import Recipe
from caesura.models.decoding.labelling_runs import Progress, published_words
from caesura.models.evaluation.figures import ScoredLanguage
from caesura.models.evaluation.scoring import Counts, Score, count_blocks, scored
from caesura.schemas.labels import Casing
from caesura.worker.ports.engine import Engine

CAPITAL_TEXTS = ("changelog", "us_congress_hearings", "audreyt_english")
"""Three kinds: podcasts, hearings, interviews and talks."""

WAYS = ("network", "likeliest form", "sentence starts alone")
_CLASSES = {casing.published: frozenset((int(casing),)) for casing in (Casing.CAPITAL_FIRST, Casing.ALL_CAPITALS)}
_GROUPS = ("all", "names", "both ways", "unseen")
_NUMBERS = {casing.published: int(casing) for casing in Casing}
_ALWAYS_SMALL = int(Casing.SMALL)
_Gold = list[int]


class Forms:
    """How training text writes each word inside sentences: how often in which class."""

    def __init__(self, documents: Iterable[AlignedDocument]) -> None:
        """Count the words whose case is known."""
        counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for document in documents:
            for word, casing in zip(document.words, document.casing, strict=True):
                if casing != UNKNOWN:
                    counts[word][casing] += 1
        self._counts: Mapping[str, Counter[int]] = dict(counts)

    def likeliest(self, word: str) -> int:
        """Return the class that the word is most often of; small where it was never seen."""
        counts = self._counts.get(word)
        return counts.most_common(1)[0][0] if counts else _ALWAYS_SMALL

    def group(self, word: str) -> str:
        """Return which of the groups the word belongs to, besides all."""
        counts = self._counts.get(word)
        if not counts:
            return "unseen"
        return "both ways" if counts[_ALWAYS_SMALL] else "names"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapitalFigure:
    """One row: how a text's words of one group were written. label: a class of casing, or ``overall``."""

    text: str
    way: str
    group: str
    label: str
    score: Score


def evaluate_capitals(  # noqa: PLR0913 - what is scored, of what, by what
    engine: Engine,
    corpora: Path,
    corpus: str,
    *,
    language: ScoredLanguage,
    limit: int,
    table_words: int,
    by_document: bool = False,
    progress: Progress = lambda _: None,
) -> list[CapitalFigure]:
    """Score held-out documents of one corpus, decoded as the worker decodes them.

    limit: held-out words. table_words: how many words of the corpus's training text the forms are learnt from.
    by_document: each document's own rows besides, under the corpus's name and its own.
    """
    documents = held_out(language.recipe, corpora, corpus, max_words=limit)
    forms = Forms(_training(language.recipe, corpora, corpus, table_words))
    written = published_words(
        engine, [document.words for document in documents], language=language.code, progress=progress
    )
    network = [[_NUMBERS[word.casing] for word in words] for words in written]
    figures = list(figures_of(corpus, documents, list(chain.from_iterable(network)), forms))
    for document, own in zip(documents, network, strict=True) if by_document else ():
        figures += figures_of(f"{corpus}: {document.name}", [document], own, forms)
    return figures


def figures_of(
    text: str, documents: Sequence[AlignedDocument], network: Sequence[int], forms: Forms
) -> Iterator[CapitalFigure]:
    """Yield the rows of documents whose words the network writes so; a group without capitals has no row."""
    views = [word for document in documents for word in document.words]
    gold = [UNKNOWN if _is_i(word) else casing for word, casing in zip(views, _casings(documents), strict=True)]
    said = {
        WAYS[0]: list(network),
        WAYS[1]: [forms.likeliest(word) for word in views],
        WAYS[2]: [_ALWAYS_SMALL] * len(views),
    }
    groups = [forms.group(word) for word in views]
    for group in _GROUPS:
        known = [casing if group in ("all", found) else UNKNOWN for casing, found in zip(gold, groups, strict=True)]
        for way, labels in said.items():
            for label, counts in _counted(known, labels).items():
                yield CapitalFigure(text=text, way=way, group=group, label=label, score=scored(counts))


def _counted(gold: _Gold, labels: Sequence[int]) -> dict[str, Counts]:
    counts = count_blocks(gold, labels, _CLASSES)
    return {label: one for label, one in counts.items() if np.any(one[:, 2])}


def _training(recipe: Recipe, corpora: Path, corpus: str, words: int) -> Iterator[AlignedDocument]:
    for document in recipe.documents(corpora, corpus, training=True):
        if words <= 0:
            return
        words -= len(document.words)
        yield document


def _casings(documents: Sequence[AlignedDocument]) -> Iterator[int]:
    for document in documents:
        yield from document.casing


def _is_i(word: str) -> bool:
    return word == "i" or word.startswith("i'")
