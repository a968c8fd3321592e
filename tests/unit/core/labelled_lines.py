"""Words with labels, written in a line: what the tests of rendering read."""

from __future__ import annotations

from caesura.schemas.segments import CasingName, DisfluencyTag, PunctuationName, SegmentWord

__all__ = ["words_of"]

MARKS: dict[str, PunctuationName] = {",": "comma", ".": "period", "?": "question", "、": "enumeration_comma"}
CASINGS: dict[str, CasingName] = {"small": "small", "Capital": "capital_first", "ALL": "all_capitals"}
TAGS: dict[str, DisfluencyTag] = {"RM": "B-RM", "rm": "I-RM", "IM": "B-IM", "im": "I-IM"}


def words_of(line: str) -> list[SegmentWord]:
    """Read ``text|mark|tag|casing`` items; all but the text may be absent: ``to|RM boston|,|rm|Capital um|,|IM``."""
    words = []
    for item in line.split():
        text, *rest = item.split("|")
        mark: PunctuationName = next((MARKS[field] for field in rest if field in MARKS), "none")
        tag: DisfluencyTag = next((TAGS[field] for field in rest if field in TAGS), "O")
        casing: CasingName = next((CASINGS[field] for field in rest if field in CASINGS), "as_given")
        words.append(SegmentWord(text=text, punctuation=mark, disfluency=tag, casing=casing))
    return words
