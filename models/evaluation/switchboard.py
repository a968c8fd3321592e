"""English disfluency on Switchboard's test part: as a stream that nobody cut into sentences, and slash unit by unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from caesura.models.data.swda import Role, SpeakerSide, read_swda_test
from caesura.models.decoding.labelling_runs import Progress
from caesura.models.decoding.ways import Decoding
from caesura.models.evaluation.figures import Figure, ScoredLanguage, count_tags, figures_of, label_texts
from caesura.models.evaluation.scoring import Counts
from caesura.schemas.labels import Disfluency
from caesura.worker.ports.engine import Engine

_UNSEGMENTED, _SEGMENTED = "swda", "swda by slash unit"
SWDA_TESTS = (_UNSEGMENTED, _SEGMENTED)
INTERREGNA = frozenset((Role.FILLED_PAUSE, Role.EDITING_TERM, Role.DISCOURSE_MARKER))
"""The roles whose words are interregna in the gold tags."""


def evaluate_swda(
    engine: Engine,
    corpora: Path,
    name: str,
    *,
    language: ScoredLanguage,
    decoding: Decoding,
    limit: int = 0,  # noqa: ARG001 - a benchmark is scored whole
    progress: Progress = lambda _: None,
) -> list[Figure]:
    """Score the tags on the whole test part. A session is one speaker's side, or one slash unit of it."""
    sides = list(read_swda_test(corpora))
    texts = (
        [side.words for side in sides] if name == _UNSEGMENTED else [unit for side in sides for unit in side.units()]
    )
    labelled = label_texts(engine, texts, language=language.code, decoding=decoding, progress=progress)
    tags = [tag for _, text_tags in labelled for tag in text_tags]
    return list(figures_of(name, decoding, "disfluency", count_both_ways(sides, tags)))


def count_both_ways(sides: Sequence[SpeakerSide], tags: Sequence[int]) -> dict[str, Counts]:
    """Count tags against the gold ones, with discourse markers as interregna and, in rows of their own, as fluent.

    tags: one a word of all sides, one side after the other.
    """
    gold = [tag for side in sides for tag in gold_tags(side, INTERREGNA)]
    narrow = [tag for side in sides for tag in gold_tags(side, INTERREGNA - {Role.DISCOURSE_MARKER})]
    counts, without = count_tags(gold, tags), count_tags(narrow, tags)
    counts |= {f"{label} without {{D}}": without[label] for label in ("interregnum", "either")}
    return counts


def gold_tags(side: SpeakerSide, interregna: frozenset[Role]) -> list[int]:
    """Return a tag a word: of another brace than ``interregna``, a word is what the brackets around it make it."""
    tags: list[int] = []
    for role, covered in zip(side.roles, side.covered, strict=True):
        if role in interregna:
            tags.append(int(Disfluency.B_IM))
        else:
            tags.append(int(Disfluency.B_RM) if covered else int(Disfluency.O))
    return tags
