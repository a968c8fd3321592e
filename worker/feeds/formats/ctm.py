"""NIST CTM (``.ctm``): ``file channel start duration word [confidence]`` a line, seconds; ``;;`` begins a comment.

Source: https://github.com/usnistgov/SCTK/blob/master/doc/infmts.htm

Each file and channel is a stream. Alternatives (``<ALT_BEGIN>`` …) keep their first; what stands in angle brackets is
no word. Fillers stand as the recogniser's dictionary writes them (``%hesitation`` among them).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from worker.feeds.hypothesis import HeardWord, Hypothesis
from worker.feeds.refusal import BadLineError
from worker.feeds.times import seconds_ms

__all__ = ["hypotheses", "is_ctm"]

_ALTERNATIVES = ("<ALT_BEGIN>", "<ALT>", "<ALT_END>")


def is_ctm(line: str) -> bool:
    """Tell whether a line is one of a CTM file."""
    fields = line.split()
    return len(fields) in (5, 6) and seconds_ms(fields[2]) is not None and seconds_ms(fields[3]) is not None


def hypotheses(lines: Iterable[str]) -> Iterator[Hypothesis]:
    """Yield a final hypothesis a word; reads all lines first. BadLineError names the line that is none."""
    rows = list(_rows(lines))
    several = len({stream for stream, _ in rows}) > 1
    for stream, word in rows:
        yield Hypothesis(words=(word,), stream=stream if several else "", final=True, heard_until_ms=word.end_ms)


def _rows(lines: Iterable[str]) -> Iterator[tuple[str, HeardWord]]:
    kept = True
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        mark = fields[4].upper() if len(fields) > 4 else ""
        if mark in _ALTERNATIVES:
            kept = mark != "<ALT>"
            continue
        if not is_ctm(line):
            raise BadLineError(f"line {number} is none of CTM: file, channel, start, duration, word")
        if kept and not (mark.startswith("<") and mark.endswith(">")):
            yield f"{fields[0]}/{fields[1]}", _word(fields)


def _word(fields: list[str]) -> HeardWord:
    start_ms, duration_ms = seconds_ms(fields[2]) or 0, seconds_ms(fields[3]) or 0
    score_permille = seconds_ms(fields[5]) if len(fields) > 5 else None
    known = score_permille / 1000 if score_permille is not None and score_permille <= 1000 else None
    return HeardWord(text=fields[4], start_ms=start_ms, end_ms=start_ms + duration_ms, confidence=known)
