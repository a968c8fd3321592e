"""Lines of words with a model's marks and tags, as the guards over them are shown."""

from __future__ import annotations

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.schemas.segments import CasingName, DisfluencyTag, PunctuationName, SegmentWord
from caesura.worker.core.decoding.kept_words import guard_tags

TAGS = {"{": Disfluency.B_IM, "[": Disfluency.B_RM, "": Disfluency.O}
MARKS = {".": Punctuation.PERIOD, "?": Punctuation.QUESTION, ",": Punctuation.COMMA}


def left_out(line: str) -> str:
    """Return what is still tagged of a line in which ``{`` and ``[`` stand before each word that a model tagged."""
    words, marks, tags = [], bytearray(), bytearray()
    for token in line.split():
        mark = MARKS.get(token[-1], Punctuation.NONE)
        text = token.rstrip(".?,")
        tag = TAGS["" if text[0] not in "{[" else text[0]]
        tags.append(tag + 1 if tag and tags and tags[-1] in (tag, tag + 1) else tag)
        words.append(text.lstrip("{["))
        marks.append(mark)
    guard_tags(words, marks, tags, 0, len(words))
    return " ".join(word for word, tag in zip(words, tags, strict=True) if tag)


MARKS_BY_NAME: dict[str, PunctuationName] = {
    ",": "comma",
    ".": "period",
    "?": "question",
    "、": "enumeration_comma",
}
CASINGS: dict[str, CasingName] = {"small": "small", "Capital": "capital_first", "ALL": "all_capitals"}
TAGS_BY_NAME: dict[str, DisfluencyTag] = {"RM": "B-RM", "rm": "I-RM", "IM": "B-IM", "im": "I-IM"}


def words_of(line: str) -> list[SegmentWord]:
    """Read ``text|mark|tag|casing`` items; all but the text may be absent: ``to|RM boston|,|rm|Capital um|,|IM``."""
    words = []
    for item in line.split():
        text, *rest = item.split("|")
        mark: PunctuationName = next((MARKS_BY_NAME[field] for field in rest if field in MARKS_BY_NAME), "none")
        tag: DisfluencyTag = next((TAGS_BY_NAME[field] for field in rest if field in TAGS_BY_NAME), "O")
        casing: CasingName = next((CASINGS[field] for field in rest if field in CASINGS), "as_given")
        words.append(SegmentWord(text=text, punctuation=mark, disfluency=tag, casing=casing))
    return words
