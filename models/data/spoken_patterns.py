"""Sentences of our own, made from frames: words doubled in earnest, digits, "you know" meant as said, and repairs.

The edited corpora hardly ever hold what a network confuses with a slip ("had had", "hours and hours", "five five
two"), and rules insert only repairs that take words of the sentence up again; "turn left, sorry, right" does not. So
both kinds are made here, half and half, with words drawn into frames (``spoken_frames``, ``chinese_frames``; their
notation is ``frame_notation``'s). None of the sentences of ``models/evaluation/regression`` stands here: that list says
whether what is learnt goes beyond the frames.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from caesura.models.data.aligned_words import AlignedDocument, move_marks
from caesura.models.data.chinese_marks import LabelledUnit, add_turn, read_chinese_marks
from caesura.models.data.frame_notation import CHOICE, bare, labelled_spans, tags_of, word_tags
from caesura.models.data.marks import ENGLISH_WRITING, Writing, read_marks
from caesura.schemas.labels import Punctuation

_DOCUMENTS, _SENTENCES = 1600, 25
_SLOT = re.compile(r"<(\w+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """A language's frames: said in earnest, and with a slip; and the words of each slot."""

    earnest: Sequence[str]
    repaired: Sequence[str]
    words: Mapping[str, Sequence[str]]


def pattern_documents(
    frames: Frames,
    add: Callable[[AlignedDocument, str], None],
    *,
    corpus: str = "patterns",
    documents: int = _DOCUMENTS,
) -> Iterator[AlignedDocument]:
    """Yield documents of 25 sentences each, the same ones every time. add: appends a sentence that is so written."""
    for number in range(documents):
        rng = random.Random(number)
        document = AlignedDocument(corpus, f"{corpus}-{number}")
        for _ in range(_SENTENCES):
            frame = rng.choice(frames.earnest if rng.random() < 0.5 else frames.repaired)
            add(document, _filled(frame, frames.words, rng))
        move_marks(document)
        yield document


def _filled(frame: str, words: Mapping[str, Sequence[str]], rng: random.Random) -> str:
    """Return the frame with its choices made and its slots filled; the same slot is never filled twice alike."""
    while (found := CHOICE.search(frame)) is not None:
        frame = frame[: found.start()] + rng.choice(found[1].split("|")) + frame[found.end() :]
    taken: set[str] = set()

    def drawn(slot: re.Match[str]) -> str:
        word = rng.choice([word for word in words[slot[1]] if word not in taken])
        taken.add(word)
        return word

    while _SLOT.search(frame):
        frame = _SLOT.sub(drawn, frame)
    return frame


def add_spaced(document: AlignedDocument, sentence: str, writing: Writing = ENGLISH_WRITING) -> None:
    """Append a sentence in the frames' notation. A mark stands behind the word that it follows, bracket or not."""
    for word, tag in zip(read_marks(bare(sentence), writing), word_tags(sentence), strict=True):
        document.add(word.view, word.mark, tag, word.casing)
    document.turn_ends.add(len(document.words) - 1)


def add_chinese(document: AlignedDocument, sentence: str) -> None:
    """Append a sentence in the frames' notation, cut into words as the worker cuts it. No mark follows a bracket."""
    units: list[LabelledUnit] = []
    for span, begin in labelled_spans(sentence):
        read = read_chinese_marks(span)
        for unit, tag in zip(read, tags_of(read, begin), strict=True):
            unit.tag = tag
            unit.mark = max(unit.mark, Punctuation.NONE)  # unknown at the end of a span, which is within the sentence
        units += read
    add_turn(document, units)
