"""Words of a rendered text into lines and cues: filled as far as the limits allow, broken where the text breathes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from caesura.worker.captions.limits import CaptionLimits, columns

__all__ = ["CaptionWord", "laid_out", "lines_of"]

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
    rest = _within_lines(words, limits)
    cues: list[list[CaptionWord]] = []
    while rest:
        most = _fitting(rest, limits)
        count = most
        if most < len(rest) and not _pauses(rest[most - 1], rest[most], limits):
            enough = (at for at in range(most, 0, -1) if at >= most * _FULL_ENOUGH)
            count = next((at for at in enough if rest[at - 1].text.endswith(_BREATHES)), most)
        cues.append(rest[:count])
        rest = rest[count:]
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


def _fitting(words: Sequence[CaptionWord], limits: CaptionLimits) -> int:
    """Return how many words, at least one, one cue can hold."""
    count = sum(len(line) for line in _filled(words, limits.line_columns)[: limits.lines])
    for at in range(1, count):
        if _pauses(words[at - 1], words[at], limits) or words[at].end_ms - words[0].start_ms > limits.most_ms:
            return at
    return count


def _pauses(before: CaptionWord, after: CaptionWord, limits: CaptionLimits) -> bool:
    return after.start_ms - before.end_ms >= limits.pause_ms


def _filled(words: Sequence[CaptionWord], line_columns: int) -> list[list[CaptionWord]]:
    lines: list[list[CaptionWord]] = []
    for word in words:
        if not lines or columns(_joined([*lines[-1], word])) > line_columns:
            lines.append([])
        lines[-1].append(word)
    return lines


def _joined(words: Sequence[CaptionWord]) -> str:
    return "".join((" " if word.spaced and at else "") + word.text for at, word in enumerate(words))


def _within_lines(words: Sequence[CaptionWord], limits: CaptionLimits) -> list[CaptionWord]:
    """Return the words, those longer than a line in parts."""
    parts: list[CaptionWord] = []
    for word in words:
        text, spaced = word.text, word.spaced
        while columns(text) > limits.line_columns:
            at = next(at for at in range(len(text), 0, -1) if columns(text[:at]) <= limits.line_columns)
            parts.append(replace(word, text=text[:at], spaced=spaced))
            text, spaced = text[at:], False
        parts.append(replace(word, text=text, spaced=spaced))
    return parts
