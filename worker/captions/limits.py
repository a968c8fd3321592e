"""A broadcaster's limits for captions: width, lines, reading speed, duration."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from caesura.worker.errors import FatalError


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionLimits:
    """The limits of a cue.

    line_columns: the longest line, a Chinese character being two. lines: at most. words_a_minute: how fast it may be
    read; a Chinese character is two thirds of a word. least_ms, most_ms: how long it stands. most_late_ms: how far
    cues may fall behind speech that is faster than that; beyond it they stand as long as they were spoken.
    pause_ms: a pause that ends a cue. at_least: how probable a mark, or a word's being left out, has to be; where a
    segment does not say, it counts.
    """

    line_columns: int = 42
    lines: int = 2
    words_a_minute: int = 170
    least_ms: int = 1_000
    most_ms: int = 7_000
    most_late_ms: int = 6_000
    pause_ms: int = 1_500
    at_least: float = 0.0

    def __post_init__(self) -> None:
        """Refuse limits that no caption meets. FatalError."""
        if self.line_columns < 10 or self.lines < 1 or self.words_a_minute < 1 or not 0 < self.least_ms <= self.most_ms:
            raise FatalError("captions have lines of at least 10 columns, and a shortest time within their longest")

    def reading_ms(self, words: float) -> int:
        """Return how long so many words take to read, within the shortest and the longest time."""
        return min(self.most_ms, max(self.least_ms, round(words * 60_000 / self.words_a_minute)))


def columns(text: str) -> int:
    """Return how many columns a text takes; a full-width character takes two, a combining one none."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )
