"""Sentences of our own, made from frames: words doubled in earnest, digits, "you know" meant as said, and repairs.

The edited corpora hardly ever hold what a network confuses with a slip ("had had", "hours and hours", "five five
two"), and rules insert only repairs that take words of the sentence up again; "turn left, sorry, right" does not. So
both kinds are made here, half and half, with words drawn into frames. In a frame ``a|b`` is a choice, ``<name>`` a
word drawn of that list, ``[..]`` a reparandum and ``{..}`` an interregnum; the marks are the frame's own. None of the
sentences of ``models/evaluation/regression`` stands here: that list says whether what is learnt goes beyond the frames.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from models.data.aligned_words import AlignedDocument, move_marks
from models.data.marks import read_marks
from models.data.spoken_frames import DRAWN_WORDS, EARNEST, REPAIRED
from schemas.labels import Disfluency

__all__ = ["pattern_documents"]

_DOCUMENTS, _SENTENCES = 1600, 25
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"<(\w+)>")
_SPAN = re.compile(r"\[([^\]]*)\]|\{([^}]*)\}|([^\[{]+)")
_KINDS = {
    1: (Disfluency.B_RM, Disfluency.I_RM),
    2: (Disfluency.B_IM, Disfluency.I_IM),
    3: (Disfluency.O, Disfluency.O),
}
"""The tags of a span's first word and of the others, by the group of ``_SPAN`` that it is."""


def pattern_documents(*, documents: int = _DOCUMENTS) -> Iterator[AlignedDocument]:
    """Yield documents of 25 sentences each; the same ones every time."""
    for number in range(documents):
        rng = random.Random(number)
        document = AlignedDocument("patterns", f"patterns-{number}")
        for _ in range(_SENTENCES):
            _add(document, _filled(rng.choice(EARNEST if rng.random() < 0.5 else REPAIRED), rng))
        move_marks(document)
        yield document


def _filled(frame: str, rng: random.Random) -> str:
    """Return the frame with its choices made and its slots filled; the same slot is never filled twice alike."""
    while (found := _CHOICE.search(frame)) is not None:
        frame = frame[: found.start()] + rng.choice(found[1].split("|")) + frame[found.end() :]
    taken: set[str] = set()

    def drawn(slot: re.Match[str]) -> str:
        word = rng.choice([word for word in DRAWN_WORDS[slot[1]] if word not in taken])
        taken.add(word)
        return word

    return _SLOT.sub(drawn, frame)


def _add(document: AlignedDocument, sentence: str) -> None:
    """Append a sentence in the frames' notation. A mark stands behind the word that it follows, bracket or not."""
    plain = re.sub(r"[\[\]{}]", "", sentence)
    tags = [tag for span in _SPAN.finditer(sentence) for tag in _tags(span)]
    for word, tag in zip(read_marks(plain), tags, strict=True):
        document.add(word.view, word.mark, tag, word.casing)
    document.turn_ends.add(len(document.words) - 1)


def _tags(span: re.Match[str]) -> list[int]:
    group = span.lastindex
    assert group is not None, "each way to match has a group"
    begin, inside = _KINDS[group]
    words = [word for word in span[group].split() if re.search(r"\w", word)]
    return [int(inside if place else begin) for place in range(len(words))]
