"""The figures of the English model: the IWSLT2011 benchmark and held-out open documents, as a stream and offline.

Streaming is what the product does: the words go through ``core`` with F = 3 and T = 6, and the labels scored are
the frozen ones. Offline reads windows of 200 words, of which 35 and 15 at the edges are context only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.dev_talks import dev_half
from caesura.models.data.iwslt import read_iwslt
from caesura.models.data.preparation import held_out
from caesura.models.decoding.labelling_runs import Labelled, Progress
from caesura.models.decoding.ways import Decoding
from caesura.models.evaluation.figures import Figure, ScoredLanguage, count_tags, figures_of, label_texts
from caesura.models.evaluation.scoring import count_blocks
from caesura.worker.ports.engine import Engine

BENCHMARKS = {"REF": "test2011", "ASR": "test2011asr"}
DEV_HALVES = {"dev2012, tuning half": True, "dev2012, reported half": False}
_TAGGED = ("rev16", "disfl_qa", "parisstories", "parisstories.dev", "coser", "disco_de", "disco_fr")
"""Corpora whose disfluencies people labelled."""

HELD_OUT = (
    "changelog",
    "crd3",
    "cabnc",
    "earnings22",
    "ami",
    "bitcointranscripts",
    "rev16",
    "disfl_qa",
    "audreyt_english",
    "us_congress_hearings",
    "whitehouse_briefings",
    "inquiry_covid",
    "president_news_conferences",
    "europarl_debates",
)


def evaluate_benchmark(
    engine: Engine,
    corpora: Path,
    name: str,
    *,
    language: ScoredLanguage,
    decoding: Decoding,
    limit: int = 0,
    progress: Progress = lambda _: None,
) -> list[Figure]:
    """Score the marks on the benchmark's own tokens, all of them: REF and ASR whole, a half of dev2012 talk by talk.

    limit: of dev2012, whole talks until there are so many words.
    """
    half = DEV_HALVES.get(name)
    if half is None:
        texts = [read_iwslt(corpora, BENCHMARKS[name])]
    else:
        talks = dev_half(corpora, tunes=half)
        before = accumulate((len(talk.words) for talk in talks), initial=0)
        texts = [talk for talk, words in zip(talks, before, strict=False) if words < limit]
    labelled = label_texts(
        engine, [text.words for text in texts], language=language.code, decoding=decoding, progress=progress
    )
    gold = [mark for text in texts for mark in text.marks]
    marks = [mark for text, (said, _) in zip(texts, labelled, strict=True) for mark in text.spread(said)]
    counts = count_blocks(gold, marks, language.mark_classes)
    return list(figures_of(name, decoding, "punctuation", counts))


def evaluate_held_out(
    engine: Engine,
    corpora: Path,
    corpus: str,
    *,
    language: ScoredLanguage,
    decoding: Decoding,
    limit: int,
    progress: Progress = lambda _: None,
) -> list[Figure]:
    """Score marks and tags on held-out documents of a corpus; words whose label nobody knows are not scored.

    Each document is one session. Tags are scored where gold ones exist (``_TAGGED``).
    """
    documents = held_out(language.recipe, corpora, corpus, max_words=limit)
    labelled = label_texts(
        engine, [document.words for document in documents], language=language.code, decoding=decoding, progress=progress
    )
    figures: list[Figure] = []
    marks = [mark for marks, _ in labelled for mark in marks]
    gold_marks = [mark for document in documents for mark in document.punctuation]
    figures.extend(figures_of(corpus, decoding, "punctuation", count_blocks(gold_marks, marks, language.mark_classes)))
    if corpus in _TAGGED:
        figures.extend(_tag_figures(corpus, documents, labelled, decoding=decoding))
    return figures


def _tag_figures(
    corpus: str, documents: Sequence[AlignedDocument], labelled: Sequence[Labelled], *, decoding: Decoding
) -> Iterator[Figure]:
    tags = [tag for _, tags in labelled for tag in tags]
    gold = [tag for document in documents for tag in document.disfluency]
    return figures_of(corpus, decoding, "disfluency", count_tags(gold, tags))
