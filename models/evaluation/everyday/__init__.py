"""Calls and everyday talk of our own in German, Spanish and French, and how well a model labels them, kind by kind.

``de.txt``, ``es.txt`` and ``fr.txt`` hold a finished session a line, under headings that name a kind, in the notation
of ``frame_notation`` with marks and capitals; after a word with ``;`` any mark is right. Nothing is trained
on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument, move_marks
from caesura.models.data.frame_notation import bare, word_tags
from caesura.models.data.marks import read_marks
from caesura.models.decoding.labelling_runs import Labelled, label_streams
from caesura.models.evaluation.figures import ScoredLanguage
from caesura.models.evaluation.scoring import count_blocks, scored
from caesura.schemas.labels import Disfluency
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.ports.engine import Engine

EVERYDAY = Path(__file__).parent
_OPEN = ";"


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayLine:
    """One line. document: its words in the model's view with gold marks, tags and casing."""

    kind: str
    line: str
    document: AlignedDocument


@dataclass(slots=True)
class _Kind:
    lines: int = 0
    exact: int = 0
    gold: list[int] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    lost_words: int = 0
    fillers: int = 0
    missed_fillers: int = 0
    taken_back: int = 0
    missed_taken_back: int = 0


def read_everyday(language: str, folder: Path = EVERYDAY) -> Iterator[EverydayLine]:
    """Yield the lines of a language; ValueError where words and tags of a line do not match."""
    kind = ""
    for line in (folder / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            kind = line.strip("# ")
        elif line.strip():
            yield EverydayLine(kind=kind, line=line, document=_document(kind, line))


def _document(kind: str, line: str) -> AlignedDocument:
    document = AlignedDocument("everyday", kind)
    written = [token for token in bare(line).split() if model_view(token)]
    read = zip(read_marks(" ".join(written).replace(_OPEN, "")), written, word_tags(line), strict=True)
    for word, token, tag in read:
        document.add(word.view, UNKNOWN if token.endswith(_OPEN) else word.mark, tag, word.casing)
    document.turn_ends.add(len(document.words) - 1)
    move_marks(document)
    return document


def everyday_table(engine: Engine, language: ScoredLanguage, lines: Sequence[EverydayLine]) -> str:
    """Return a Markdown table with a row a kind, each line labelled as a session of its own."""
    labelled = label_streams(engine, [line.document.words for line in lines], language=language.code)
    kinds: defaultdict[str, _Kind] = defaultdict(_Kind)
    for line, labels in zip(lines, labelled, strict=True):
        for name in (line.kind, "all"):
            _count(kinds[name], line.document, labels)
    rows = [
        "| kind | lines | exact | F1 of marks | words lost | fillers missed | words taken back missed |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, kind in sorted(kinds.items(), key=lambda item: item[0] == "all"):
        f1 = scored(count_blocks(kind.gold, kind.marks, language.mark_classes)["overall"]).f1
        rows.append(
            f"| {name} | {kind.lines} | {kind.exact} | {f1:.1f} | {kind.lost_words} "
            f"| {kind.missed_fillers} of {kind.fillers} | {kind.missed_taken_back} of {kind.taken_back} |"
        )
    return "\n".join(rows)


def _count(kind: _Kind, gold: AlignedDocument, labels: Labelled) -> None:
    marks, tags = labels
    known = [place for place, mark in enumerate(gold.punctuation) if mark != UNKNOWN]
    wanted = [tag != Disfluency.O for tag in gold.disfluency]
    left_out = [tag != Disfluency.O for tag in tags]
    fillers = [tag in (Disfluency.B_IM, Disfluency.I_IM) for tag in gold.disfluency]
    kind.lines += 1
    kind.exact += wanted == left_out and all(gold.punctuation[place] == marks[place] for place in known)
    kind.gold += gold.punctuation
    kind.marks += marks
    for want, out, filler in zip(wanted, left_out, fillers, strict=True):
        kind.lost_words += out and not want
        kind.fillers += filler
        kind.missed_fillers += filler and not out
        kind.taken_back += want and not filler
        kind.missed_taken_back += want and not filler and not out
