"""Segments in the order of their conversation made into paragraphs: by side, by pause, by length. Pure, no model."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.schemas.segments import Segment
from caesura.worker.core.rendering.conversation import Placed, side_name
from caesura.worker.core.rendering.typography import typography_of

_CHARACTERS_A_WORD = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphLimits:
    """When a side's words begin a new paragraph.

    pause_ms: a pause after a finished sentence. long_pause_ms: a pause in the middle of one. words: so many words, at
    the next sentence end; a Chinese character is two thirds of a word.
    """

    pause_ms: int = 2_000
    long_pause_ms: int = 5_000
    words: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Segments of one session that people read as one, in order. timed: the words say when they were spoken."""

    segments: tuple[Segment, ...]
    start_ms: int
    end_ms: int
    timed: bool

    @property
    def session(self) -> str:
        """The session's name."""
        return self.segments[0].session

    @property
    def side(self) -> str:
        """The side's name (``side_name``)."""
        return side_name(self.segments[0])


class Paragraphs:
    """Makes paragraphs of placed segments as they come: a new one for another side, a pause, or length."""

    def __init__(self, limits: ParagraphLimits | None = None) -> None:
        self._limits = limits or ParagraphLimits()
        self._open: list[Placed] = []
        self._words = 0.0

    def add(self, placed: Placed) -> Paragraph | None:
        """Add the next segment; return the paragraph that it ends, if it ends one. One without words adds nothing."""
        if not placed.segment.words:
            return None
        ended = self.finish() if self._open and self._begins(placed) else None
        self._open.append(placed)
        self._words += _word_count(placed.segment)
        return ended

    def finish(self) -> Paragraph | None:
        """Return the paragraph that is open; None where there is none."""
        if not self._open:
            return None
        taken, self._open, self._words = self._open, [], 0.0
        return Paragraph(
            segments=tuple(one.segment for one in taken),
            start_ms=taken[0].start_ms,
            end_ms=max(one.end_ms for one in taken),
            timed=any(one.timed for one in taken),
        )

    def _begins(self, placed: Placed) -> bool:
        last = self._open[-1]
        if last.segment.session != placed.segment.session or last.segment.since != placed.segment.since:
            return True
        pause_ms = placed.start_ms - last.end_ms if placed.timed and last.timed else 0
        if pause_ms >= self._limits.long_pause_ms:
            return True
        return last.segment.sentence_end and (pause_ms >= self._limits.pause_ms or self._words >= self._limits.words)


def _word_count(segment: Segment) -> float:
    if typography_of(segment.lang).spaced:
        return len(segment.words)
    return sum(len(word.text) for word in segment.words) / _CHARACTERS_A_WORD
