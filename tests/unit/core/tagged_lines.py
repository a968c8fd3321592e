"""Lines of words with a model's marks and tags, as the guards over them are shown."""

from __future__ import annotations

from caesura.schemas.labels import Disfluency, Punctuation
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
