"""Corpora that benchmark variants learn from, and nothing shipped: their licences allow figures only."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.corpora import CorpusRules, marked_well, read_in_order
from caesura.models.data.english_corpora import ENGLISH_TEXT
from caesura.models.data.swda import Role, SpeakerSide, read_swda_training
from caesura.schemas.labels import Disfluency

BENCHMARK_MIX = {"ted": 5_300_000, "swda": 2_000_000, "swda_marked": 2_000_000}
"""The corpora, and how many words of each are trained on at most; swda_marked is swda with its marks."""

_STAGE_DIRECTION = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_SPEAKER = re.compile(r"^(?:[A-Z]{2,3}|[A-Z][a-z]+(?: [A-Z][\w.]+){1,2}): ")
_BEGINS = {
    Role.REPARANDUM: Disfluency.B_RM,
    Role.FILLED_PAUSE: Disfluency.B_IM,
    Role.EDITING_TERM: Disfluency.B_IM,
    Role.DISCOURSE_MARKER: Disfluency.B_IM,
}
_GOES_ON = {Disfluency.B_RM: Disfluency.I_RM, Disfluency.B_IM: Disfluency.I_IM}


def read_benchmark_corpus(corpora: Path, name: str, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
    """Yield the documents of ``ted``, ``swda`` or ``swda_marked`` whose name is to be kept."""
    if name in ("swda", "swda_marked"):
        marked = name == "swda_marked"
        sides = read_swda_training(corpora)
        return (side_document(name, number, side, marked=marked) for number, side in sides if keep(number))
    return _talks(corpora, keep)


def ted_text(text: str) -> str:
    """Return a talk as one line: entities read twice, stage directions and speakers' names left out.

    Its lines are subtitles, which end anywhere.
    """
    lines = html.unescape(html.unescape(text)).splitlines()
    return _STAGE_DIRECTION.sub(" ", " ".join(_SPEAKER.sub("", line.strip()) for line in lines))


def _talks(corpora: Path, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
    for name, text in read_in_order(corpora, "en", "ted", keep):
        document = AlignedDocument("ted", name)
        ENGLISH_TEXT.add_line(document, ted_text(text), verbatim=False)
        if marked_well(document, CorpusRules()):
            yield document


def side_document(corpus: str, name: str, side: SpeakerSide, *, marked: bool) -> AlignedDocument:
    """Return a speaker's side with its tags, and its marks if they are ``marked``; a slash unit's end ends a turn."""
    document = AlignedDocument(corpus, name, turn_ends={end - 1 for end in side.unit_ends})
    for word, tag, mark in zip(side.words, _tags(side.roles), side.marks, strict=True):
        document.add(word, mark if marked else UNKNOWN, tag)
    return document


def _tags(roles: Sequence[Role]) -> Iterator[int]:
    before: Role | None = None
    for role in roles:
        begin = _BEGINS.get(role, Disfluency.O)
        yield int(_GOES_ON.get(begin, begin) if role is before else begin)
        before = role
