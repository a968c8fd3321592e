"""Segments as a worker publishes them, made by hand: whatever a test does not care about has its default here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, Unpack

from caesura.schemas.segments import (
    Cause,
    ModelRef,
    PunctuationName,
    Segment,
    SegmentWord,
    Source,
    Timing,
    TranslationSegment,
)

MODEL = ModelRef(id="m", version="1")
TimedWord = tuple[str, PunctuationName, int, int]
"""Its text, mark, the pause before it and its length in milliseconds."""


class SegmentFields(TypedDict, total=False):
    """What a test may want to say of a segment."""

    session: str
    sentence_end: bool
    session_end: bool
    cause: Cause
    lang: str
    source: Source
    timing: Timing
    model: ModelRef | None
    punctuated: bool


class _AllFields(SegmentFields, total=False):
    version: str
    since: int
    index: int
    first_word: int
    sentence: int
    sentence_start: bool


def a_segment(words: Iterable[SegmentWord], **fields: Unpack[SegmentFields]) -> Segment:
    """Make a session's first segment: English, the start of a sentence and not its end."""
    return Segment(words=tuple(words), **_whole(fields))


def a_translation(words: Iterable[SegmentWord], text: str, **fields: Unpack[SegmentFields]) -> TranslationSegment:
    """Make the same as a route has it, with a rendered text whose words have no places."""
    return TranslationSegment(words=tuple(words), target="captions", text=text, spans=(), **_whole(fields))


def timed_segment(*words: TimedWord, lang: str = "en", timed: bool = True, appended_ms: int = 0) -> Segment:
    """Make a segment of words: text, mark, pause before it and length in milliseconds."""
    at, made = 0, []
    for text, mark, pause_ms, length_ms in words:
        start, at = (at + pause_ms, at + pause_ms + length_ms)
        word = SegmentWord(text=text, punctuation=mark, disfluency="O", start_ms=start, end_ms=at)
        made.append(word if timed else SegmentWord(text=text, punctuation=mark, disfluency="O"))
    timing = Timing(appended_ms=appended_ms, polled_ms=0, frozen_ms=0)
    return a_segment(made, lang=lang, timing=timing, model=MODEL)


def _whole(fields: SegmentFields) -> _AllFields:
    whole: _AllFields = {
        "version": "1.0",
        "session": "s",
        "since": 0,
        "index": 0,
        "first_word": 0,
        "sentence": 0,
        "sentence_start": True,
        "sentence_end": False,
        "cause": Cause.SENTENCE,
        "lang": "en",
        "source": Source(topic="asr.words", partition=0, first_offset=0, last_offset=0),
        "timing": Timing(appended_ms=0, polled_ms=0, frozen_ms=0),
    }
    return {**whole, **fields}
