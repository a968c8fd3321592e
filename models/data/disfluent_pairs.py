"""Gold disfluencies from pairs of a disfluent and a fluent text: Disfl-QA's questions, and rev16 verbatim with clean.

The two are aligned word by word. What the fluent text lacks was disfluent: a filler or discourse marker is an
interregnum, up to eight other words a reparandum. A word that was replaced, and what is longer, stays unknown.
"""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

import difflib
import json
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from caesura.models.data.aligned_words import REPARANDUM, UNKNOWN, AlignedDocument, move_marks
from caesura.models.data.corpora import read_texts
from caesura.models.data.disfluencies import FILLED_PAUSES
from caesura.models.data.marks import MarkedWord, read_marks
from caesura.schemas.labels import Disfluency, Punctuation

_MARKERS = (
    "no wait|no sorry|no i mean|no make that|no scratch that|scratch that|or rather|i mean|i meant|you know|sort of|"
    "kind of|make that|sorry|actually|rather|wait|no|oops|well|like|so|actually no|hold on|excuse me|oh|ah|or|okay|"
    "instead|i'm sorry|never mind"
)
_CUES = sorted((tuple(cue.split()) for cue in _MARKERS.split("|")), key=len, reverse=True)
_BACKCHANNELS = frozenset("yeah yes okay ok right mhm mm hm yep wow cool sure".split())
_MAX_REPARANDUM_WORDS = 8


def read_disfl_qa(corpora: Path, split: str) -> Iterator[AlignedDocument]:
    """Yield one document a question of Disfl-QA's ``train``, ``dev`` or ``test``."""
    with tarfile.open(corpora / "labelled" / "disfl_qa.tar.xz") as archive:
        member = archive.extractfile(f"{split}.json")
        if member is None:
            raise ValueError(f"disfl_qa.tar.xz has no {split}.json")
        pairs = json.load(member)
    for key, pair in pairs.items():
        words = read_marks(pair["disfluent"])
        fluent = [word.view for word in read_marks(pair["original"])]
        document = AlignedDocument("disfl_qa", key)
        for word, tag in zip(words, _tags(words, fluent, max_words=25), strict=True):
            document.add(word.view, word.mark, tag, word.casing)
        document.turn_ends.add(len(words) - 1)
        move_marks(document)
        yield document


def read_rev16(corpora: Path, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
    """Yield rev16's verbatim documents whose name is to be kept, tagged by their clean edition."""
    clean = {Path(name).name: text for name, text in read_texts(corpora, "en", "rev16_clean")}
    for name, text in read_texts(corpora, "en", "rev16_verbatim"):
        if not keep(name):
            continue
        words = read_marks(text)
        fluent = [word.view for word in read_marks(clean[Path(name).name])]
        document = AlignedDocument("rev16", name)
        for word, tag in zip(words, _tags(words, fluent, max_words=_MAX_REPARANDUM_WORDS), strict=True):
            document.add(word.view, _verbatim_mark(word, tag), tag)
        document.turn_ends.add(len(words) - 1)
        move_marks(document)
        yield document


def _verbatim_mark(word: MarkedWord, tag: int) -> int:
    """Return a word's mark: unknown after a hyphen, where another speaker breaks in, as in the other corpora."""
    if word.ellipsis and tag != Disfluency.O:
        return Punctuation.NONE
    return UNKNOWN if word.fragment and word.mark == Punctuation.NONE else word.mark


def _tags(words: Sequence[MarkedWord], fluent: Sequence[str], *, max_words: int) -> list[int]:
    views = [word.view for word in words]
    tags = [int(Disfluency.O)] * len(words)
    matcher = difflib.SequenceMatcher(None, views, fluent, autojunk=False)
    for operation, start, end, other, other_end in matcher.get_opcodes():
        if operation == "delete":
            span = _shifted(views, start, end)
            tags[span] = _deleted(views[span], max_words=max_words)
        elif operation == "replace":
            longer = (end - start) > (other_end - other) + 1
            tags[start:end] = [UNKNOWN] * (end - start)
            if longer:
                for i in range(start, end):
                    tags[i] = Disfluency.B_IM if views[i] in FILLED_PAUSES else UNKNOWN
    for i, view in enumerate(views):
        if view in FILLED_PAUSES:
            tags[i] = Disfluency.B_IM
    return _well_formed(tags)


def _shifted(views: Sequence[str], start: int, end: int) -> slice:
    """Move a deletion left over equal words: of two copies the first is the reparandum."""
    while start > 0 and views[start - 1] == views[end - 1] and views[start - 1] not in FILLED_PAUSES:
        start, end = start - 1, end - 1
    return slice(start, end)


def _deleted(span: Sequence[str], *, max_words: int) -> list[int]:
    if len(span) > max_words or any(view in _BACKCHANNELS for view in span):
        return [UNKNOWN] * len(span)
    tags = [int(Disfluency.I_RM)] * len(span)
    i = 0
    while i < len(span):
        cue = next((cue for cue in _CUES if tuple(span[i : i + len(cue)]) == cue), ())
        if span[i] in FILLED_PAUSES:
            tags[i] = Disfluency.I_IM
            i += 1
        elif cue and (i == 0 or i + len(cue) == len(span) or i + len(cue) + 2 >= len(span)):
            tags[i : i + len(cue)] = [int(Disfluency.I_IM)] * len(cue)
            i += len(cue)
        else:
            i += 1
    return tags


def _well_formed(tags: Sequence[int]) -> list[int]:
    """Return the tags with each span's first one a B."""
    out: list[int] = []
    for i, tag in enumerate(tags):
        kind = _kind(tag)
        begins = i == 0 or _kind(tags[i - 1]) != kind
        if kind == "RM":
            out.append(int(Disfluency.B_RM if begins else Disfluency.I_RM))
        elif kind == "IM":
            out.append(int(Disfluency.B_IM if begins else Disfluency.I_IM))
        else:
            out.append(int(tag))
    return out


def _kind(tag: int) -> str:
    if tag in REPARANDUM:
        return "RM"
    if tag in (Disfluency.B_IM, Disfluency.I_IM):
        return "IM"
    return "O"
