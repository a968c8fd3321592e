"""The figures of the English model: the IWSLT2011 benchmark and held-out open documents, as a stream and offline.

Streaming is what the product does: the words go through ``worker.core`` with F = 3 and T = 6, and the labels scored are
the frozen ones. Offline reads windows of 200 words, of which 35 and 15 at the edges are context only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from models.data.aligned_words import AlignedDocument
from models.data.dev_talks import dev_half
from models.data.iwslt import read_iwslt
from models.data.preparation import held_out
from models.data.recipes import Recipe
from models.decoding.labelled_stream import active_model
from models.decoding.labelling_runs import Labelled, Progress, label_offline, label_streams
from models.evaluation.scoring import Counts, Difference, Score, count_blocks, difference, scored
from schemas.labels import Disfluency, Punctuation
from worker.ports.engine import Engine

__all__ = [
    "BENCHMARKS",
    "DEV_HALVES",
    "EITHER",
    "HELD_OUT",
    "MARK_CLASSES",
    "TAG_CLASSES",
    "Evaluation",
    "Figure",
    "Pair",
    "count_tags",
    "evaluate_benchmark",
    "evaluate_held_out",
    "figures_of",
    "label_texts",
    "pairs",
    "pairs_table",
    "table",
]

BENCHMARKS = {"REF": "test2011", "ASR": "test2011asr"}
DEV_HALVES = {"dev2012, tuning half": True, "dev2012, reported half": False}
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

MARK_CLASSES = {
    "comma": frozenset((int(Punctuation.COMMA),)),
    "period": frozenset((int(Punctuation.PERIOD),)),
    "question": frozenset((int(Punctuation.QUESTION),)),
}
TAG_CLASSES = {
    "reparandum": frozenset((int(Disfluency.B_RM), int(Disfluency.I_RM))),
    "interregnum": frozenset((int(Disfluency.B_IM), int(Disfluency.I_IM))),
}
EITHER = {"either": TAG_CLASSES["reparandum"] | TAG_CLASSES["interregnum"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the table: what was scored on what, how decoded. counts: what the score was made of."""

    text: str
    decoding: str
    kind: str
    label: str
    score: Score
    counts: Counts = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain values, without the counts of its blocks."""
        names = ("text", "decoding", "kind", "label")
        return {name: getattr(self, name) for name in names} | {"score": asdict(self.score)}


class Evaluation(Protocol):
    """Scores one text, named; limit: how many words, or Chinese characters, of a text that may be cut."""

    def __call__(
        self, engine: Engine, corpora: Path, name: str, /, *, offline: bool, limit: int, progress: Progress
    ) -> list[Figure]:
        """Label the text and score the labels."""
        ...


def evaluate_benchmark(
    engine: Engine,
    corpora: Path,
    name: str,
    *,
    offline: bool,
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
    labelled = label_texts(engine, [text.words for text in texts], language="en", offline=offline, progress=progress)
    gold = [mark for text in texts for mark in text.marks]
    marks = [mark for text, (said, _) in zip(texts, labelled, strict=True) for mark in text.spread(said)]
    counts = count_blocks(gold, marks, MARK_CLASSES)
    return list(figures_of(name, offline, "punctuation", counts))


def evaluate_held_out(
    engine: Engine,
    corpora: Path,
    corpus: str,
    *,
    recipe: Recipe,
    offline: bool,
    limit: int,
    progress: Progress = lambda _: None,
) -> list[Figure]:
    """Score marks and tags on held-out documents of a corpus; words whose label nobody knows are not scored.

    Each document is one session. Tags are scored where gold ones exist: rev16 (verbatim against clean) and Disfl-QA.
    """
    documents = held_out(recipe, corpora, corpus, max_words=limit)
    labelled = label_texts(
        engine, [document.words for document in documents], language="en", offline=offline, progress=progress
    )
    figures: list[Figure] = []
    marks = [mark for marks, _ in labelled for mark in marks]
    gold_marks = [mark for document in documents for mark in document.punctuation]
    figures.extend(figures_of(corpus, offline, "punctuation", count_blocks(gold_marks, marks, MARK_CLASSES)))
    if corpus in ("rev16", "disfl_qa"):
        figures.extend(_tag_figures(corpus, documents, labelled, offline=offline))
    return figures


def _tag_figures(
    corpus: str, documents: Sequence[AlignedDocument], labelled: Sequence[Labelled], *, offline: bool
) -> Iterator[Figure]:
    tags = [tag for _, tags in labelled for tag in tags]
    gold = [tag for document in documents for tag in document.disfluency]
    return figures_of(corpus, offline, "disfluency", count_tags(gold, tags))


def count_tags(
    gold: Sequence[int], tags: Sequence[int], classes: Mapping[str, frozenset[int]] = TAG_CLASSES | EITHER
) -> dict[str, Counts]:
    """Count tags block by block; without the overall class, which would count a word of two classes twice."""
    counts = count_blocks(gold, tags, classes)
    del counts["overall"]
    return counts


def label_texts(
    engine: Engine, texts: Sequence[Sequence[str]], *, language: str, offline: bool, progress: Progress
) -> list[Labelled]:
    """Return the labels of each text by the language's active model, as a stream or offline."""
    if not offline:
        return label_streams(engine, texts, language=language, progress=progress)
    model = active_model(engine, language)
    return [label_offline(engine, model, words, language=language, progress=progress) for words in texts]


def figures_of(text: str, offline: bool, kind: str, counts: dict[str, Counts]) -> Iterator[Figure]:
    """Yield one row a class."""
    decoding = "offline" if offline else "streaming"
    for label, one in counts.items():
        yield Figure(text=text, decoding=decoding, kind=kind, label=label, score=scored(one), counts=one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Streaming less offline: the same weights, text and blocks."""

    text: str
    label: str
    streaming: float
    offline: float
    difference: Difference

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(self) | {"holds_zero": self.difference.holds_zero}


def pairs(figures: Sequence[Figure]) -> list[Pair]:
    """Return a row for each text and class that was scored both ways."""
    ways = {(figure.text, figure.kind, figure.label, figure.decoding): figure for figure in figures}
    found: list[Pair] = []
    for figure in figures:
        offline = ways.get((figure.text, figure.kind, figure.label, "offline"))
        if figure.decoding == "streaming" and offline is not None:
            found.append(
                Pair(
                    text=figure.text,
                    label=figure.label,
                    streaming=figure.score.f1,
                    offline=offline.score.f1,
                    difference=difference(figure.counts, offline.counts),
                )
            )
    return found


def pairs_table(rows: Sequence[Pair]) -> str:
    """Return the pairs as a Markdown table."""
    lines = [
        "| text | label | streaming | offline | delta | 95 % interval | holds 0 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        one = row.difference
        lines.append(
            f"| {row.text} | {row.label} | {row.streaming:.1f} | {row.offline:.1f} | {one.delta:+.1f} "
            f"| {one.low:+.1f} to {one.high:+.1f} | {'yes' if one.holds_zero else 'no'} |"
        )
    return "\n".join(lines)


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table."""
    lines = ["| text | decoding | label | P | R | F1 | 95 % interval | gold |", "|---|---|---|---|---|---|---|---|"]
    for figure in figures:
        one = figure.score
        lines.append(
            f"| {figure.text} | {figure.decoding} | {figure.label} | {one.precision:.1f} | {one.recall:.1f} "
            f"| {one.f1:.1f} | {one.low:.1f} to {one.high:.1f} | {one.gold} |"
        )
    return "\n".join(lines)
