"""Makes cues from frozen segments, as they come. A cue has only frozen words, is written once and never changes.

A segment becomes one cue or several; no cue has words of two segments, so nothing is held back. If a cue must stay
longer than it was spoken, so that it can be read, the next one is moved back, as far as the limits allow.

An impossible time harms at most its own cue: a word begins at the median of its own time and its neighbours'. A cue
that begins more than ``most_late_ms`` before the last one stands at its own time, whichever of the two is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import msgspec

from caesura.schemas.segments import Segment, SegmentWord, TranslationSegment
from caesura.worker.captions.layout import CaptionWord, laid_out, lines_of
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.rendering.typography import typography_of

_OPENING = "[{(¿"
_WORDS_A_CHARACTER = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Lines that stand from start_ms to end_ms, in the session's time. number: 1, 2, 3 and on."""

    number: int
    start_ms: int
    end_ms: int
    lines: tuple[str, ...]
    speaker: str | None = None


class CueWriter:
    """Writes the cues of one session. style, cleaning, overlays: how segments are rendered, but a route's."""

    def __init__(
        self,
        limits: CaptionLimits,
        style: Style = Style.FLUENT,
        *,
        cleaning: Cleaning | None = None,
        overlays: OverlayRules = NO_OVERLAYS,
    ) -> None:
        self._limits = limits
        self._style = style
        self._cleaning = cleaning or Cleaning()
        self._overlays = overlays
        self._number = 0
        self._free_ms = self._begun_ms = self._spoken_ms = 0
        self._first_appended_ms: int | None = None
        self._since: int | None = None
        self._goes_on = False

    def write(self, segment: Segment, *, lead: str = "") -> Iterator[Cue]:
        """Yield the cues of the session's next segment; a session of the same name later has times of its own.

        lead: stands before its first word, such as the speaker's name where the file has no other place for it.
        """
        if segment.since != self._since:
            self._since, self._first_appended_ms = segment.since, None
            self._free_ms = self._begun_ms = self._spoken_ms = 0
            self._goes_on = False
        words = self._words(self._trusted(segment))
        if lead and words:
            words[0] = replace(words[0], text=f"{lead}{words[0].text}")
        for group in laid_out(words, self._limits):
            yield self._cue(group, segment)

    def _cue(self, words: Sequence[CaptionWord], segment: Segment) -> Cue:
        spoken_ms, until_ms = words[0].start_ms, words[-1].end_ms
        goes_back = self._begun_ms - spoken_ms > self._limits.most_late_ms
        start_ms = spoken_ms if goes_back else max(spoken_ms, self._free_ms)
        self._begun_ms = spoken_ms
        spaced = typography_of(segment.lang).spaced
        count = len(words) if spaced else sum(len(word.text) for word in words) * _WORDS_A_CHARACTER
        reading_ms = self._limits.reading_ms(count)
        lasting_ms = max(reading_ms, min(until_ms - start_ms, self._limits.most_ms))
        if start_ms - spoken_ms > self._limits.most_late_ms:  # speech is faster than reading: catch up
            lasting_ms = min(lasting_ms, max(until_ms - spoken_ms, self._limits.least_ms))
        self._number += 1
        self._free_ms = start_ms + lasting_ms
        lines = lines_of(words, self._limits)
        return Cue(number=self._number, start_ms=start_ms, end_ms=self._free_ms, lines=lines, speaker=segment.speaker)

    def _trusted(self, segment: Segment) -> Segment:
        """Return a segment without its doubtful labels; where its last stop is one, the next segment goes on."""
        least, starts = self._limits.at_least, segment.sentence_start and not self._goes_on
        if not segment.words or not least:
            return segment
        words = _trusted_words(segment.words, least)
        self._goes_on = segment.sentence_end and words[-1].punctuation == "none"
        return msgspec.structs.replace(segment, words=words, sentence_start=starts)

    def _words(self, segment: Segment) -> list[CaptionWord]:
        if isinstance(segment, TranslationSegment):
            text, spans = segment.text, segment.spans
        else:
            rendered = render_segment(segment, self._style, cleaning=self._cleaning, overlays=self._overlays)
            text, spans = rendered.text, rendered.spans
        words: list[CaptionWord] = []
        times = self._times([self._given(segment, index) for index, _, _ in spans])
        runs = [list(run) for _, run in groupby(range(len(spans)), key=lambda at: spans[at][1:])]  # an overlay is one
        places = [spans[run[0]][1:] for run in runs]
        begins = [0, *(_boundary(text, before[1], behind[0]) for before, behind in pairwise(places))]
        for at, (begin, run) in enumerate(zip(begins, runs, strict=False)):
            start_ms, end_ms = times[run[0]][0], max(times[place][1] for place in run)
            end = begins[at + 1] if at + 1 < len(runs) else len(text)
            spaced = at == 0 or text[begin - 1].isspace()
            words.append(CaptionWord(text=text[begin:end].strip(), spaced=spaced, start_ms=start_ms, end_ms=end_ms))
        return words

    def _given(self, segment: Segment, index: int) -> tuple[int, int]:
        """Return a word's times; the record's where the recogniser gave none."""
        said = segment.words[index]
        if said.start_ms is not None:
            return said.start_ms, said.start_ms if said.end_ms is None else said.end_ms
        appended_ms = segment.timing.appended_ms
        if self._first_appended_ms is None:
            self._first_appended_ms = appended_ms
        return (appended_ms - self._first_appended_ms,) * 2

    def _times(self, given: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the times of a segment's words: none begins before the last one, and one wild time moves no other."""
        times: list[tuple[int, int]] = []
        for at, (own_ms, end_ms) in enumerate(given):
            after_ms = given[at + 1][0] if at + 1 < len(given) else own_ms
            start_ms = sorted((self._spoken_ms, own_ms, after_ms))[1]
            if times:
                start_ms = max(start_ms, times[-1][0])
            times.append((start_ms, start_ms + max(0, end_ms - own_ms)))
            self._spoken_ms = start_ms
        return times


def _boundary(text: str, end: int, start: int) -> int:
    """Return where the next word begins, its opening brackets with it; marks belong to the word before."""
    between = text[end:start]
    begin = max(between.rfind(" ") + 1, len(between.rstrip(_OPENING)))
    return end + begin


def _trusted_words(words: Sequence[SegmentWord], least: float) -> tuple[SegmentWord, ...]:
    """Return the words without marks, and without tags, that are less probable than ``least``.

    A label whose probability is not known stays. least: 0 to 1.
    """
    return tuple([_trusted_word(word, least) for word in words])


def _trusted_word(word: SegmentWord, least: float) -> SegmentWord:
    of_mark, of_tag = word.punctuation_probability, word.disfluency_probability
    if of_mark is not None and of_mark < least and word.punctuation != "none":
        word = msgspec.structs.replace(word, punctuation="none")
    if of_tag is not None and of_tag < least and word.disfluency != "O":
        word = msgspec.structs.replace(word, disfluency="O")
    return word
