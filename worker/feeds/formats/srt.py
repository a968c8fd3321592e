"""SubRip (``.srt``): numbered cues, ``hh:mm:ss,mmm --> hh:mm:ss,mmm``, lines of text.

Source: https://docs.fileformat.com/video/srt/

A cue's words are spread over its time, their ends guesses. Numbers, times and tags are not spoken, nor is what stands
in brackets or between notes; a dash or ``NAME:`` at the start of a line is a speaker's turn and dropped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from worker.feeds.hypothesis import Hypothesis
from worker.feeds.times import clock_ms, spread
from worker.feeds.written_words import words_of

__all__ = ["TIMING", "hypotheses", "spoken"]

TIMING = re.compile(r"^\s*((?:\d+:)?\d+:\d+[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d+:\d+[.,]\d{1,3})(?:\s.*)?$")
_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_NOT_SPOKEN = re.compile(r"\[[^\]]{0,300}\]|\([^)]{0,300}\)|♪[^♪]*♪?|[♪♫]")
_TURN = re.compile(r"^\s*(?:[-–—]+\s*)?(?:>>+\s*)?(?:[A-Z][A-Z .'-]{1,30}:\s)?")


def hypotheses(lines: Iterable[str]) -> Iterator[Hypothesis]:
    """Yield a final hypothesis a cue."""
    begin_ms: int | None = None
    end_ms: int | None = None
    said: list[str] = []
    for line in [*(one.rstrip("\r\n") for one in lines), ""]:
        timing = TIMING.match(line)
        if timing is None and line.strip():
            if begin_ms is not None:
                said.append(line)
            continue
        if begin_ms is not None:
            yield _cue(said, begin_ms, end_ms)
        begin_ms, said = None, []
        if timing is not None:
            begin_ms, end_ms = clock_ms(timing[1]), clock_ms(timing[2])


def spoken(line: str) -> str:
    """Return what of a cue's line is speech."""
    return _TURN.sub("", _NOT_SPOKEN.sub(" ", html.unescape(_TAG.sub("", line))))


def _cue(lines: list[str], begin_ms: int, end_ms: int | None) -> Hypothesis:
    words = [word for line in lines for word in words_of(spoken(line))]
    return Hypothesis(words=spread(words, begin_ms, end_ms), final=True, heard_until_ms=end_ms)
