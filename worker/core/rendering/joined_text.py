"""The rendered segments of one session, joined to one text as their language joins words."""

from __future__ import annotations

from collections.abc import Sequence

from caesura.schemas.segments import Segment
from caesura.worker.core.rendering.typography import typography_of, unspaced


def joined_text(texts: Sequence[str], segments: Sequence[Segment]) -> str:
    """Return the text of a session's segments, in their order; an empty one adds nothing."""
    line = ""
    for text, segment in zip(texts, segments, strict=True):
        if text:
            line += (" " if line and _spaced(line, text, segment) else "") + text
    return line


def _spaced(line: str, text: str, segment: Segment) -> bool:
    first = segment.words[0]
    if first.piece is not None and first.piece.start > 0:
        return False  # the rest of a unit that the last segment began
    return typography_of(segment.lang).spaced or not (unspaced(line[-1]) or unspaced(text[0]))
