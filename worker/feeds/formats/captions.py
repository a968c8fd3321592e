"""SubRip and WebVTT captions as words: what is spoken, by whom, and when.

A cue's words are spread over its time, or between the time stamps within its text; ends are guesses. Markup, speakers'
labels, sounds and remarks in brackets are not spoken. ``<v Name>`` and labels name the speaker, who gets a session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from caesura.worker.feeds.formats.caption_text import plain
from caesura.worker.feeds.formats.cues import FileCue, srt_cues, vtt_cues
from caesura.worker.feeds.formats.shown_once import ShownCue, shown_once
from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.speaker_labels import FoundLabel, SpeakerLabels
from caesura.worker.feeds.spoken_text import CUE_END, spoken_pieces
from caesura.worker.feeds.times import spread
from caesura.worker.feeds.written_words import is_mark

_WORD = re.compile(r"\S+")


def srt_hypotheses(lines: Iterable[str]) -> Iterator[Hypothesis]:
    """Yield a final hypothesis a cue that says something new; reads all lines first. Raises BadLineError."""
    return _hypotheses(lines, srt_cues)


def vtt_hypotheses(lines: Iterable[str]) -> Iterator[Hypothesis]:
    """Yield a final hypothesis a cue that says something new; reads all lines first. Raises BadLineError."""
    return _hypotheses(lines, vtt_cues)


def _hypotheses(lines: Iterable[str], cues_of: Callable[[Iterable[str]], Iterator[FileCue]]) -> Iterator[Hypothesis]:
    return spoken_hypotheses(cues_of(lines))


def spoken_hypotheses(given: Iterable[FileCue]) -> Iterator[Hypothesis]:
    """Yield a final hypothesis a cue that says something new; reads all cues first."""
    cues = shown_once(given)
    labels = SpeakerLabels((line for cue in cues for line in (*map(plain, cue.lines), "")), captions=True)
    written = [_written(cue, labels) for cue in cues]
    spoken = spoken_pieces([cue.text for cue in written])
    speaker = ""
    for cue, found, text in zip(cues, written, spoken, strict=True):
        words, speaker = _words(cue, found, text, speaker)
        if words:
            yield Hypothesis(words=words, final=True, heard_until_ms=cue.end_ms)


@dataclass(frozen=True, slots=True)
class _Written:
    """A cue's text, labels left out. pieces: where each ends, its time stamp, its voice. turns: where each begins."""

    text: str
    pieces: list[tuple[int, int | None, str]]
    turns: list[tuple[int, str]]


def _written(cue: ShownCue, labels: SpeakerLabels) -> _Written:
    written: list[str] = []
    pieces: list[tuple[int, int | None, str]] = []
    turns: list[tuple[int, str]] = []
    length = 0
    for line in cue.lines:
        text = "".join(piece.text for piece in line)
        found = labels.find(text)
        if found is None and line and line[0].voice and text.startswith(f"{line[0].voice}:"):
            found = FoundLabel(line[0].voice, len(line[0].voice) + 1)
        end = length
        for piece in line:
            end += len(piece.text)
            pieces.append((end, piece.stamp_ms, piece.voice))
        if found is not None:
            text = " " * found.end + text[found.end :]
            turns.append((length, found.name))
        written.append(text)
        length = end + 1
    return _Written("\n".join(written) + CUE_END, pieces, turns)


def _words(cue: ShownCue, written: _Written, spoken: str, speaker: str) -> tuple[tuple[HeardWord, ...], str]:
    """Return a cue's words, and who speaks at its end. speaker: who spoke before, by a label."""
    pieces, turns = written.pieces, [(0, speaker), *written.turns]
    stretches: list[tuple[int, list[HeardWord]]] = [(cue.begin_ms, [])]
    number, turn = -1, 0
    for word in _WORD.finditer(spoken):
        while turn + 1 < len(turns) and turns[turn + 1][0] <= word.start():
            turn += 1
        while number < 0 or pieces[number][0] <= word.start():
            number += 1
            stretches += _stretch(pieces[number][1])
        if not is_mark(word[0]):
            stretches[-1][1].append(HeardWord(text=word[0], speaker=pieces[number][2] or turns[turn][1]))
    for _, stamp_ms, _ in pieces[number + 1 :]:
        stretches += _stretch(stamp_ms)
    ends = [*(start for start, _ in stretches[1:]), cue.end_ms]
    words = tuple(
        replace(timed, speaker=word.speaker)
        for (start_ms, said), until_ms in zip(stretches, ends, strict=True)
        for timed, word in zip(spread([word.text for word in said], start_ms, until_ms), said, strict=True)
    )
    return words, turns[-1][1]


def _stretch(stamp_ms: int | None) -> list[tuple[int, list[HeardWord]]]:
    """Return the stretch of a cue that a time stamp begins."""
    return [] if stamp_ms is None else [(stamp_ms, [])]
