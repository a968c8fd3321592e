"""WebVTT (``.vtt``): ``WEBVTT``, cues with times, voices and settings; blocks of notes, styles and regions.

Source: https://www.w3.org/TR/webvtt1/

A cue's words are spread over its time, or stand where time stamps within the text say. ``<v Name>`` is a speaker, who
gets a session. Captions that roll up repeat their last line in the next cue: where a file has time stamps within its
text, lines without any that were just shown are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from worker.feeds.formats.srt import TIMING, spoken
from worker.feeds.hypothesis import HeardWord, Hypothesis
from worker.feeds.times import clock_ms, spread
from worker.feeds.written_words import words_of

__all__ = ["hypotheses"]

_INNER = re.compile(r"<((?:\d+:)?\d+:\d+\.\d{3})>")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")


def hypotheses(lines: Iterable[str]) -> Iterator[Hypothesis]:
    """Yield a final hypothesis a cue that says something new."""
    rolling = False
    shown: list[str] = []
    for begin_ms, end_ms, cue in _cues(lines):
        rolling = rolling or any(_INNER.search(line) for line in cue)
        new = [line for line in cue if not (rolling and not _INNER.search(line) and _plain(line) in shown)]
        shown = [plain for line in cue if (plain := _plain(line))] or shown
        words = _words(new, begin_ms, end_ms)
        if words:
            yield Hypothesis(words=words, final=True, heard_until_ms=end_ms)


def _cues(lines: Iterable[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield each cue's times and lines; blocks that are none are passed over."""
    timing: tuple[int, int] | None = None
    cue: list[str] = []
    for line in [*(one.rstrip("\r\n").removeprefix("\ufeff") for one in lines), ""]:
        match = TIMING.match(line)
        if not line.strip():
            if timing is not None:
                yield *timing, cue
            timing, cue = None, []
        elif match is not None and timing is None:
            begin_ms, end_ms = clock_ms(match[1]), clock_ms(match[2])
            if begin_ms is not None and end_ms is not None:
                timing = (begin_ms, end_ms)
        elif timing is not None:
            cue.append(line)  # what stands outside of a cue is its name, a note, a style: not spoken


def _plain(line: str) -> str:
    return " ".join(words_of(spoken(line)))


def _words(lines: Iterable[str], begin_ms: int, end_ms: int) -> tuple[HeardWord, ...]:
    """Return a cue's words, those between two of its time stamps spread over the time between."""
    stretches: list[tuple[int, list[HeardWord]]] = [(begin_ms, [])]
    speaker = ""
    for line in lines:
        for number, part in enumerate(_INNER.split(line)):
            if number % 2:
                stretches.append((clock_ms(part) or stretches[-1][0], []))
                continue
            voice = _VOICE.search(part)
            speaker = voice[1].strip() if voice is not None else speaker
            stretches[-1][1].extend(HeardWord(text=word, speaker=speaker) for word in words_of(spoken(part)))
    ends = [*(start for start, _ in stretches[1:]), end_ms]
    return tuple(
        replace(timed, speaker=word.speaker)
        for (start_ms, said), until_ms in zip(stretches, ends, strict=True)
        for timed, word in zip(spread([word.text for word in said], start_ms, until_ms), said, strict=True)
    )
