"""What a tune changed on text that it never saw: marks against the text's own, as a stream, before and after.

Every document is one session through ``core``, as in the product. The tags of fillers and repairs have no gold
here; how many of them changed is told instead, because a network that is trained on marks alone may lose them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from caesura.models.decoding.labelling_runs import Progress, label_streams
from caesura.models.decoding.ways import STREAMING
from caesura.models.evaluation.figures import Figure, GoldSession, figures_of
from caesura.models.evaluation.scoring import count_blocks
from caesura.models.languages.registry import LANGUAGES
from caesura.worker.adapters.onnx.engine import OnnxEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """The frozen labels of some sessions by one models folder, one after the other."""

    marks: list[int]
    tags: list[int]


def streamed(
    models: Path,
    sessions: Sequence[GoldSession],
    language: str,
    *,
    threads: int,
    progress: Progress = lambda _: None,
) -> Streamed:
    """Label the sessions with the active model of ``language`` in a models folder."""
    engine = OnnxEngine(models, threads=threads)
    labelled = label_streams(engine, [session.units for session in sessions], language=language, progress=progress)
    return Streamed(
        marks=[mark for marks, _ in labelled for mark in marks], tags=[tag for _, tags in labelled for tag in tags]
    )


def figures(name: str, sessions: Sequence[GoldSession], labels: Streamed, language: str) -> list[Figure]:
    """Score marks by class and overall; words whose mark the text leaves open are not scored."""
    gold = [mark for session in sessions for mark in session.marks]
    counts = count_blocks(gold, labels.marks, LANGUAGES[language].mark_classes)
    return list(figures_of(name, decoding=STREAMING, kind="punctuation", counts=counts))


def changed_tags(before: Streamed, after: Streamed) -> str:
    """Say how many words were tagged as filler or repair before and after, and how many differ."""
    differ = sum((one > 0) != (other > 0) for one, other in zip(before.tags, after.tags, strict=True))
    counts = [sum(tag > 0 for tag in labels.tags) for labels in (before, after)]
    return (
        f"Fillers and repairs: {counts[0]} of {len(before.tags)} words tagged before, {counts[1]} after, "
        f"{differ} differently."
    )
