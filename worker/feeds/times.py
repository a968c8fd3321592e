"""Converts a recogniser's times to milliseconds; guesses missing ends.

Seconds (Deepgram, AWS, Vosk, sherpa-onnx, Whisper; also as text), milliseconds (AssemblyAI, Soniox, FunASR), ticks of
100 ns (Azure), durations as text or as seconds and nanos (Google), clock times as text (SRT, WebVTT, whisper.cpp).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from caesura.worker.feeds.hypothesis import HeardWord

_LONGEST_WORD_MS = 1000
_MS_A_CHARACTER = 60
_LARGEST_MS = 2**53 - 1
_LONGEST_DATE = 40
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2})(?:[.,:](\d{1,9}))?")
_SECONDS = re.compile(r"()()(\d{1,6})[.,](\d{1,9})")

_ISO = re.compile(r"PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?")


def ms(value: object) -> int | None:
    """Return milliseconds of milliseconds; None of what is no number, or negative."""
    return _rounded(value, 1.0)


def seconds_ms(value: object) -> int | None:
    """Return milliseconds of seconds, a number or a number as text."""
    return _rounded(value, 1000.0)


def ticks_ms(value: object) -> int | None:
    """Return milliseconds of ticks of 100 ns."""
    return _rounded(value, 1 / 10_000)


def duration_ms(value: object) -> int | None:
    """Return milliseconds of a protobuf Duration: ``"1.300s"`` or ``{"seconds": "1", "nanos": 300000000}``."""
    if isinstance(value, Mapping):
        seconds, nanos = _number(_whole(value.get("seconds", 0))), _number(value.get("nanos", 0))
        return None if seconds is None or nanos is None else _rounded(seconds + nanos / 1e9, 1000.0)
    if isinstance(value, str):
        return seconds_ms(value.removesuffix("s"))
    return seconds_ms(value)


def iso_ms(value: object) -> int | None:
    """Return milliseconds of a duration as ISO 8601 writes it: ``PT1M2.5S``."""
    match = _ISO.fullmatch(value) if isinstance(value, str) else None
    if match is None or value == "PT":
        return None
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return seconds_ms((hours * 60 + minutes) * 60 + seconds)


def date_ms(value: object) -> int | None:
    """Return milliseconds since 1970 of a date and time as ISO 8601 writes them; UTC where no zone is named."""
    if not isinstance(value, str) or len(value) > _LONGEST_DATE:
        return None
    try:
        date = datetime.fromisoformat(value)
    except ValueError:
        return None
    return ms((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() * 1000)


def clock_ms(text: str) -> int | None:
    """Return milliseconds of ``hh:mm:ss,mmm``, ``mm:ss.mmm`` or ``ss.mmm``; None of anything else.

    The fraction may be left out where there are minutes.
    """
    tight = "".join(text.split())
    match = _CLOCK.fullmatch(tight) or _SECONDS.fullmatch(tight)
    if match is None:
        return None
    hours, minutes, seconds, fraction = match.groups()
    return ((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds)) * 1000 + int(
        (fraction or "").ljust(3, "0")[:3]
    )


def ends_guessed(words: Sequence[HeardWord], *, until_ms: int | None = None) -> tuple[HeardWord, ...]:
    """Return the words with an end each where they have a start, guessed ones marked.

    A guess is the next word's start, at most as long as the word takes to say (60 ms a character, a second at most);
    until_ms: where the last one ends at the latest. An end before its start is no end.
    """
    told: list[HeardWord] = []
    for position, word in enumerate(words):
        if word.start_ms is None or (word.end_ms is not None and word.end_ms >= word.start_ms):
            told.append(word)
            continue
        after = words[position + 1].start_ms if position + 1 < len(words) else until_ms
        longest = word.start_ms + min(_LONGEST_WORD_MS, _MS_A_CHARACTER * max(2, len(word.text)))
        end_ms = longest if after is None else min(longest, max(after, word.start_ms))
        told.append(replace(word, end_ms=end_ms, end_guessed=True))
    return tuple(told)


def spread(texts: Sequence[str], start_ms: int | None, end_ms: int | None) -> tuple[HeardWord, ...]:
    """Return words with times spread over a stretch by their length in characters; all ends are guesses."""
    if start_ms is None or end_ms is None or end_ms < start_ms:
        return tuple(HeardWord(text=text) for text in texts)
    whole = sum(len(text) + 1 for text in texts)
    words, said = [], 0
    for text in texts:
        begin = start_ms + (end_ms - start_ms) * said // whole
        said += len(text) + 1
        end = start_ms + (end_ms - start_ms) * said // whole
        words.append(HeardWord(text=text, start_ms=begin, end_ms=end, end_guessed=True))
    return tuple(words)


def _whole(value: object) -> object:
    """Return a whole number of 64 bits that JavaScript libraries write in two halves."""
    if isinstance(value, Mapping):
        low, high = value.get("low"), value.get("high")
        if isinstance(low, int) and isinstance(high, int):
            return (high << 32) + (low & 0xFFFFFFFF)
    return value


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _rounded(value: object, factor: float) -> int | None:
    number = _number(value)
    if number is None or number < 0 or number * factor > _LARGEST_MS:
        return None
    return round(number * factor)
