"""The cues of SubRip and WebVTT files: which lines belong to which times.

Source: https://www.w3.org/TR/webvtt1/ (its parser), https://docs.fileformat.com/video/srt/ and, for joined segments,
https://datatracker.ietf.org/doc/html/rfc8216#section-3.5

- WebVTT: an empty line ends a cue; a line of white space does not. A time line begins the next cue, with or without an
  empty line before it.
- SubRip: a number and a time line end a cue; empty lines within its text do not.
- A number is a cue's only directly before its time line, or where it continues the count.
- ``X-TIMESTAMP-MAP`` of a segment moves the times of its cues against those of the first segment.

Times are read as people and tools write them: a comma, a point or a colon before the fraction, hours or minutes left
out, minutes over 59, one dash in the arrow, a sign for what is before the beginning. A time line that cannot be read is
an error, for its words would have no place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from caesura.worker.feeds.refusal import BadLineError
from caesura.worker.feeds.times import clock_ms

_TIME = r"(?:-?(?:\d{1,6}\s?:\s?)?-?\d{1,6}\s?:\s?-?\d{1,2}(?:\s?[.,:]\s?-?\d{1,9})?|-?\d{1,6}[.,]\d{1,9})"
_ARROW = r"(?:[-–—]{1,3}\s?>|→|=>)"
_TIME_LINE = re.compile(rf"\s{{0,9}}({_TIME})\s{{0,9}}{_ARROW}\s{{0,9}}({_TIME})(?:\s([^:%]*)|\s.*)?$")
_LIKE_CLOCK = r"\d{1,3}\s?[:;.]\s?\d{1,2}\s?[:;.,]\s?\d{1,3}(?:\s?[;.,]\s?\d{1,9})?"
_LIKE_TIME_LINE = re.compile(
    rf".{{0,24}}(?:{_ARROW}.{{0,9}}{_LIKE_CLOCK}|{_LIKE_CLOCK}.{{0,9}}{_ARROW})|"
    rf"\s{{0,9}}\d{{1,6}}(?:[:;][\d\s:;.,]{{1,30}}|(?:\.\d{{1,6}})?s\s{{0,9}}){_ARROW}\s{{0,9}}\d"
)
_PARTED_CLOCK = r"\d{1,3}:\d{1,2}:\d{1,2}[.,]\d{1,9}"
_TWO_CLOCKS = re.compile(
    rf"\s{{0,9}}(?:{_LIKE_CLOCK}\s{{1,9}}{_LIKE_CLOCK}|{_PARTED_CLOCK}\s{{0,9}}[-–—~,;|/]{{1,3}}\s{{0,9}}{_PARTED_CLOCK})\s*$"
)
_SETTING = re.compile(r"(?:align|line|position|region|size|vertical)\b[^\w\s]")  # one whose colon is mistyped
_NUMBER = re.compile(r"#?(\d{1,9})[.:)]?")
_WIDE = str.maketrans("：，．", ":,.")
_CUT_TIME = re.compile(r"\d{1,3}:[\d:.,]{0,16}\s{0,9}-{0,2}")
_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_WEBEX_NAME = re.compile(r'\d{1,9} "([^"]{1,40})" \(\d{1,12}\)$')
_TIMESTAMP_MAP = re.compile(r"X-TIMESTAMP-MAP\s*=")
_MPEG_TICKS = re.compile(r"MPEGTS:(\d{1,10})")
_LOCAL_TIME = re.compile(r"LOCAL:([\d:.]{1,20})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCue:
    """Lines of text as they stand in the file, and when they are shown. joint: the first of a joined segment.

    voice: who speaks, by the cue's name, as Webex writes it.
    """

    begin_ms: int
    end_ms: int
    lines: tuple[str, ...]
    joint: bool = False
    voice: str = ""


def is_time_line(line: str) -> bool:
    """Tell whether a line is the time line of a cue."""
    return _TIME_LINE.match(line.translate(_WIDE)) is not None


def is_like_time_line(line: str) -> bool:
    """Tell whether a line is a time line that was mistyped: an arrow beside a clock's time, or two times alone."""
    line = line.translate(_WIDE)
    return _LIKE_TIME_LINE.match(line) is not None or _TWO_CLOCKS.match(line) is not None


def srt_cues(lines: Iterable[str]) -> Iterator[FileCue]:
    """Yield the cues of a SubRip file. Raises BadLineError for a time line that cannot be read."""
    return _Cues(empty_line_ends=False).read(lines)


def vtt_cues(lines: Iterable[str]) -> Iterator[FileCue]:
    """Yield the cues of a WebVTT file, also of several that were joined. Raises BadLineError as ``srt_cues`` does."""
    return _Cues(empty_line_ends=True).read(lines)


class _Cues:
    """Reads line by line. ``text``: the lines since the last time line, or since the last empty line outside a cue."""

    def __init__(self, *, empty_line_ends: bool) -> None:
        self._empty_line_ends = empty_line_ends
        self._times: tuple[int, int] | None = None
        self._text: list[str] = []
        self._number: int | None = None
        self._first_base_ms: float | None = None
        self._shift_ms = 0
        self._joint = self._next_joint = False
        self._voice = ""

    def read(self, lines: Iterable[str]) -> Iterator[FileCue]:
        for count, written in enumerate(lines, start=1):
            line = written.rstrip("\r\n").removeprefix("\ufeff")
            times = None if self._in_block() and "-->" not in line else _times(line)
            if times is not None:
                named = _WEBEX_NAME.match(self._text[-1]) if self._text and self._times is None else None
                yield from self._ended(self._text_before_number())
                self._voice = named[1] if named is not None else ""
                self._times = (max(0, times[0] + self._shift_ms), max(0, times[1] + self._shift_ms))
                self._joint, self._next_joint = self._next_joint, False
                self._text += _said_beside(line)
            elif is_like_time_line(line) and not self._in_block():
                raise BadLineError(f"line {count} is the time line of a cue, and its times cannot be read")
            elif self._empty_line_ends and (not line or _is_header(line)):
                yield from self._ended(self._text)
                self._next_joint |= _is_header(line)
                self._map(line)
            else:
                self._text.append(line)
        yield from self._ended(self._text if self._empty_line_ends else self._text_before_cut())

    def _in_block(self) -> bool:
        """Tell whether a note, a style or a region is read, in which only the standard's own arrow begins a cue."""
        return (
            self._empty_line_ends and self._times is None and self._text[:1] != [] and bool(_BLOCK.match(self._text[0]))
        )

    def _ended(self, text: list[str]) -> Iterator[FileCue]:
        times, self._times, self._text = self._times, None, []
        if times is not None:  # what stands outside of a cue is its name, a note, a style: not spoken
            shown = tuple(line for line in text if line.strip())
            yield FileCue(begin_ms=times[0], end_ms=times[1], lines=shown, joint=self._joint, voice=self._voice)

    def _text_before_number(self) -> list[str]:
        """Return the text without the number of the cue that begins; note that number."""
        last = next((at for at in range(len(self._text) - 1, -1, -1) if self._text[at].strip()), None)
        told = _NUMBER.fullmatch(self._text[last].strip()) if last is not None else None
        if last is None or told is None:
            return self._text
        direct = last == len(self._text) - 1 and not (self._empty_line_ends and self._times is not None)
        first = self._number is None and self._times is None
        counted = self._number is not None and (direct or int(told[1]) == self._number + 1)
        if not (first or counted):
            return self._text
        self._number = int(told[1])
        return self._text[:last]

    def _text_before_cut(self) -> list[str]:
        """Return the text without the next cue's number, and part of its time, where a SubRip file breaks off there."""
        told = [line.strip() for line in self._text[-3:]]
        following = str(self._number + 1) if self._number is not None else None
        if following is not None and told[:2] == ["", following] and _CUT_TIME.fullmatch(told[-1]) is not None:
            return self._text[:-3]
        return self._text

    def _map(self, line: str) -> None:
        """Move the times that follow as ``X-TIMESTAMP-MAP`` says."""
        if _TIMESTAMP_MAP.match(line) is None:
            return
        ticks, local = _MPEG_TICKS.search(line), _LOCAL_TIME.search(line)
        local_ms = clock_ms(local[1]) if local is not None else None
        if ticks is None or local_ms is None:
            return
        base_ms = int(ticks[1]) / 90 - local_ms
        if self._first_base_ms is None:
            self._first_base_ms = base_ms
        self._shift_ms = round(base_ms - self._first_base_ms)


def _times(line: str) -> tuple[int, int] | None:
    match = _TIME_LINE.match(line.translate(_WIDE))
    if match is None:
        return None
    begin_ms, end_ms = (0 if "-" in time else clock_ms(time) for time in match.group(1, 2))
    return None if begin_ms is None or end_ms is None else (begin_ms, max(begin_ms, end_ms))


def _said_beside(line: str) -> list[str]:
    """Return the words that stand on a time line behind its times, where they are no settings of the cue."""
    match = _TIME_LINE.match(line.translate(_WIDE))
    beside = (match[3] or "").strip() if match is not None else ""
    return [beside] if beside and _SETTING.match(beside) is None else []


def _is_header(line: str) -> bool:
    """Tell whether a line begins a WebVTT file or belongs to its header, wherever files were joined."""
    return line.split(maxsplit=1)[:1] == ["WEBVTT"] or _TIMESTAMP_MAP.match(line) is not None
