"""Cues as SubRip and WebVTT write them.

Source: https://www.w3.org/TR/webvtt1/
"""

from __future__ import annotations

from caesura.worker.captions.cues import Cue

VTT_HEAD = "WEBVTT\n\n"


def srt(cue: Cue) -> str:
    """Return a cue with its number and a blank line after it. ``-->`` in the text becomes ``→``."""
    lines = [line.replace("-->", "→") for line in cue.lines]
    return "\n".join([str(cue.number), f"{_clock(cue.start_ms, ',')} --> {_clock(cue.end_ms, ',')}", *lines, "", ""])


def vtt(cue: Cue) -> str:
    """Return a cue with its number, its speaker's voice tag if it has one, and a blank line after it."""
    lines = [_escaped(line) for line in cue.lines]
    if cue.speaker:
        lines[0] = f"<v {_escaped(' '.join(cue.speaker.split()))}>{lines[0]}"
    return "\n".join([str(cue.number), f"{_clock(cue.start_ms, '.')} --> {_clock(cue.end_ms, '.')}", *lines, "", ""])


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(at_ms: int, point: str) -> str:
    seconds, fraction = divmod(at_ms, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}{point}{fraction:03}"
