"""Splits a rendered text into lines and cues: as full as the limits allow, with breaks at marks and pauses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from caesura.worker.captions.limits import CaptionLimits, columns

_BREATHES = tuple(".?!,;:。？！，、；：")
_FULL_ENOUGH = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionWord:
    """A word with its marks, as it stands in a line. spaced: a space stands before it, where it does not begin one."""

    text: str
    spaced: bool
    start_ms: int
    end_ms: int


def laid_out(words: Sequence[CaptionWord], limits: CaptionLimits) -> list[list[CaptionWord]]:
    """Return the words in groups, a cue each: they fit its lines, are said within its time, and hold no long pause."""
    parts = _within_lines(words, limits)
    cues: list[list[CaptionWord]] = []
    begin = 0
    while begin < len(parts):
        most = _fitting(parts, begin, limits)
        count = most
        if begin + most < len(parts) and not _pauses(parts[begin + most - 1], parts[begin + most], limits):
            enough = (at for at in range(most, 0, -1) if at >= most * _FULL_ENOUGH)
            count = next((at for at in enough if parts[begin + at - 1].text.endswith(_BREATHES)), most)
        cues.append(parts[begin : begin + count])
        begin += count
    return cues


def lines_of(words: Sequence[CaptionWord], limits: CaptionLimits) -> tuple[str, ...]:
    """Return a cue's lines: one where it fits, else as few as it needs, two of them as even as they can be."""
    whole = _joined(words)
    if columns(whole) <= limits.line_columns:
        return (whole,)
    halves = [(_joined(words[:at]), _joined(words[at:])) for at in range(1, len(words))]
    even = [pair for pair in halves if max(map(columns, pair)) <= limits.line_columns]
    if even and limits.lines >= 2:
        return min(even, key=lambda pair: (not pair[0].endswith(_BREATHES), abs(columns(pair[0]) - columns(pair[1]))))
    return tuple(_joined(line) for line in _filled(words, limits.line_columns))


def _fitting(words: Sequence[CaptionWord], begin: int, limits: CaptionLimits) -> int:
    """Return how many words from ``begin`` on, at least one, one cue can hold."""
    rest = (words[at] for at in range(begin, len(words)))
    count = sum(map(len, itertools.islice(_filled(rest, limits.line_columns), limits.lines)))
    for at in range(begin + 1, begin + count):
        if _pauses(words[at - 1], words[at], limits) or words[at].end_ms - words[begin].start_ms > limits.most_ms:
            return at - begin
    return count


def _pauses(before: CaptionWord, after: CaptionWord, limits: CaptionLimits) -> bool:
    return after.start_ms - before.end_ms >= limits.pause_ms


def _filled(words: Iterable[CaptionWord], line_columns: int) -> Iterator[list[CaptionWord]]:
    """Yield lines that are as full as they can be."""
    line: list[CaptionWord] = []
    for word in words:
        if line and columns(_joined([*line, word])) > line_columns:
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def _joined(words: Sequence[CaptionWord]) -> str:
    return "".join((" " if word.spaced and at else "") + word.text for at, word in enumerate(words))


def _within_lines(words: Sequence[CaptionWord], limits: CaptionLimits) -> list[CaptionWord]:
    """Return the words, those longer than a line in parts."""
    parts: list[CaptionWord] = []
    for word in words:
        begin = width = 0
        for at, char in enumerate(word.text):
            if (width := width + columns(char)) > limits.line_columns:
                parts.append(replace(word, text=word.text[begin:at], spaced=word.spaced and not begin))
                begin, width = at, columns(char)
        parts.append(replace(word, text=word.text[begin:], spaced=word.spaced and not begin))
    return parts
