"""Chinese text to units and marks, and units to the words that the model counts.

Every mark is mapped to the four that the model knows: a colon and a dash are commas; a semicolon and an exclamation
mark end a sentence, as in English; an ellipsis ends one at the end of its line and is unknown elsewhere. Quotes,
brackets and dots inside names are dropped. No mark is left in the text, because a recogniser sends none: the words are
cut by ``core`` from the running text, so the network is trained on the very words that it will be given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument, strongest
from caesura.models.data.recogniser_units import as_units
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.schemas.state import ModelWord
from caesura.worker.core.language.dictionary import HAN, load_dictionary
from caesura.worker.core.language.segmentation import ChineseSegmenter

_LETTER = rf"[^\W{HAN}_]"
_MARKS = ",\uff0c\u3001\u3002.\uff0e!\uff01?\uff1f;\uff1b:\uff1a"
_TOKENS = re.compile(
    rf"(?P<han>[{HAN}]+)"
    rf"|(?P<latin>{_LETTER}(?:{_LETTER}|(?<=\d)[.,:](?=\d)|[.'\u2019&@-](?={_LETTER})|[%+#\u00b0])*)"
    rf"|(?P<mark>(?:\u2026|\.{{2,}}|[\u2014\u2500\u2013]|--|[{_MARKS}])+)"
)
_ELLIPSIS = re.compile(r"\u2026|\.{2,}|\u3002{2,}")
_INSIDE_NAMES = re.compile(rf"(?<=[{HAN}])[\u00b7\u2022\u30fb](?=[{HAN}])")
_BY_MARK = {
    Punctuation.QUESTION: "?\uff1f",
    Punctuation.PERIOD: "\u3002.\uff0e!\uff01;\uff1b",
    Punctuation.COMMA: ",\uff0c:\uff1a\u2014\u2500\u2013-",
    Punctuation.ENUMERATION_COMMA: "\u3001",
}
_O = int(Disfluency.O)
_CONTINUED = {int(Disfluency.B_RM): int(Disfluency.I_RM), int(Disfluency.B_IM): int(Disfluency.I_IM)}


@dataclass(slots=True)
class LabelledUnit:
    """Some Chinese characters or one other word, as a recogniser might send it, with the mark after it and its tag."""

    text: str
    mark: int = Punctuation.NONE
    tag: int = _O


def read_chinese_marks(line: str) -> list[LabelledUnit]:
    """Return the units of one line with their marks; the last one's is ``UNKNOWN`` where the line has none."""
    line = _INSIDE_NAMES.sub("", line)
    units: list[LabelledUnit] = []
    for match in _TOKENS.finditer(line):
        if match["mark"] is None:
            units.append(LabelledUnit(match[0]))
        elif units:
            at_end = not any(char.isalnum() for char in line[match.end() :])
            units[-1].mark = _mark_of(match[0], units[-1].mark, at_end=at_end)
    if units and units[-1].mark == Punctuation.NONE:
        units[-1].mark = UNKNOWN
    return units


def _mark_of(marks: str, before: int, *, at_end: bool) -> int:
    if _ELLIPSIS.search(marks) and not set(marks) & set(_BY_MARK[Punctuation.QUESTION]):
        return strongest(before, Punctuation.PERIOD) if at_end else UNKNOWN
    for mark, characters in _BY_MARK.items():
        if any(character in characters for character in marks):
            return strongest(before, mark)
    return before


def add_turn(document: AlignedDocument, units: Sequence[LabelledUnit]) -> None:
    """Cut one turn's units into words, as the worker does, and append them to ``document``.

    A word that is made of several units has the strongest of their marks, and an unknown tag where theirs differ.
    """
    segmenter = ChineseSegmenter(load_dictionary())
    before = len(document.words)
    for word in [*segmenter.push(as_units(unit.text for unit in units)), *segmenter.flush()]:
        mark, tag = _labels(word, units)
        if word.view:
            document.add(word.view, mark, tag)
        elif len(document.words) > before:
            document.punctuation[-1] = strongest(document.punctuation[-1], mark)
    if len(document.words) > before:
        document.turn_ends.add(len(document.words) - 1)


def _labels(word: ModelWord, units: Sequence[LabelledUnit]) -> tuple[int, int]:
    mark: int = Punctuation.NONE
    kinds: set[str] = set()
    for piece in word.pieces:
        unit = units[piece.position]
        kinds.add(_kind(unit.tag))
        if piece.unit_start + len(piece.text) == piece.unit_length:
            mark = unit.mark if mark == Punctuation.NONE else strongest(mark, unit.mark)
    if len(kinds) > 1:
        return mark, UNKNOWN
    first = word.pieces[0]
    tag = units[first.position].tag
    return mark, _CONTINUED.get(tag, tag) if first.unit_start else tag


def _kind(tag: int) -> str:
    return "unknown" if tag == UNKNOWN else Disfluency(tag).kind


def cut_again(document: AlignedDocument) -> AlignedDocument:
    """Return the document with each turn's words joined and cut anew: words that were put in may join others."""
    out = AlignedDocument(document.corpus, document.name)
    for turn in _turns(document):
        add_turn(out, turn)
    return out


def _turns(document: AlignedDocument) -> Iterable[list[LabelledUnit]]:
    turn: list[LabelledUnit] = []
    labels = zip(document.words, document.punctuation, document.disfluency, strict=True)
    for place, (word, mark, tag) in enumerate(labels):
        turn.append(LabelledUnit(word, mark, tag))
        if place in document.turn_ends:
            yield turn
            turn = []
    if turn:
        yield turn
