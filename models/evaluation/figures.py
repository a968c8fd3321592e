"""What every evaluation of labels gives: figures by class, as rows of a table, and two ways to decode side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from caesura.models.data.recipes import Recipe
from caesura.models.decoding.labelled_stream import active_model
from caesura.models.decoding.labelling_runs import Labelled, Progress, label_offline, label_streams
from caesura.models.decoding.ways import OFFLINE, STREAMING, Decoding
from caesura.models.evaluation.scoring import Counts, Difference, Score, count_blocks, difference, scored
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.ports.engine import Engine

MARK_CLASSES = {
    "comma": frozenset((int(Punctuation.COMMA),)),
    "period": frozenset((int(Punctuation.PERIOD),)),
    "question": frozenset((int(Punctuation.QUESTION),)),
}
"""The marks that every language has; a language adds its own (``languages``)."""

TAG_CLASSES = {
    "reparandum": frozenset((int(Disfluency.B_RM), int(Disfluency.I_RM))),
    "interregnum": frozenset((int(Disfluency.B_IM), int(Disfluency.I_IM))),
}
EITHER = {"either": TAG_CLASSES["reparandum"] | TAG_CLASSES["interregnum"]}


@dataclass(slots=True)
class GoldSession:
    """One session: units as a recogniser sends them, and the gold mark and tag of each."""

    units: list[str]
    marks: list[int]
    tags: list[int]


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


class ScoredLanguage(Protocol):
    """What an evaluation asks of a language: its code, its corpora, and the classes of its marks by name."""

    @property
    def code(self) -> str:
        """BCP-47."""
        ...

    @property
    def recipe(self) -> Recipe:
        """What reads its corpora."""
        ...

    @property
    def mark_classes(self) -> Mapping[str, frozenset[int]]:
        """The marks that are scored, by the name of their row."""
        ...


class Evaluation(Protocol):
    """Scores one text, named; limit: how many words, or Chinese characters, of a text that may be cut."""

    def __call__(
        self,
        engine: Engine,
        corpora: Path,
        name: str,
        /,
        *,
        language: ScoredLanguage,
        decoding: Decoding,
        limit: int,
        progress: Progress,
    ) -> list[Figure]:
        """Label the text and score the labels."""
        ...


def count_tags(
    gold: Sequence[int], tags: Sequence[int], classes: Mapping[str, frozenset[int]] = TAG_CLASSES | EITHER
) -> dict[str, Counts]:
    """Count tags block by block; without the overall class, which would count a word of two classes twice."""
    counts = count_blocks(gold, tags, classes)
    del counts["overall"]
    return counts


def label_texts(
    engine: Engine, texts: Sequence[Sequence[str]], *, language: str, decoding: Decoding, progress: Progress
) -> list[Labelled]:
    """Return the labels of each text by the language's active model."""
    if (cut := decoding.cut) is None:
        return label_streams(engine, texts, language=language, progress=progress)
    model = active_model(engine, language)
    return [label_offline(engine, model, words, cut=cut, language=language, progress=progress) for words in texts]


def figures_of(text: str, decoding: Decoding, kind: str, counts: dict[str, Counts]) -> Iterator[Figure]:
    """Yield one row a class."""
    for label, one in counts.items():
        yield Figure(text=text, decoding=decoding.name, kind=kind, label=label, score=scored(one), counts=one)


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
        offline = ways.get((figure.text, figure.kind, figure.label, OFFLINE.name))
        if figure.decoding == STREAMING.name and offline is not None:
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
