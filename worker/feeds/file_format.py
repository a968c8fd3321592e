"""Which format a file of speech is in, by what stands in it; what is none of them is refused by its name.

Nothing is taken for text because nothing else fits: a file that looks like data, or like captions of a kind that is not
read here, would be spoken into the topic for ever.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from worker.errors import FatalError
from worker.feeds.formats.ctm import is_ctm
from worker.feeds.formats.srt import TIMING
from worker.feeds.recognisers.catalogue import recogniser_of

__all__ = ["LOOKED_AT_LINES", "FileFormat", "recognised_format"]

LOOKED_AT_LINES = 400


class FileFormat(StrEnum):
    """What a file may be said to be; a recogniser's messages go by its name."""

    AUTO = "auto"
    TEXT = "text"
    JSONL = "jsonl"
    SRT = "srt"
    VTT = "vtt"
    CTM = "ctm"
    DEEPGRAM = "deepgram"
    ASSEMBLYAI = "assemblyai"
    GOOGLE = "google"
    AZURE = "azure"
    AWS = "aws"
    SONIOX = "soniox"
    OPENAI_REALTIME = "openai-realtime"
    FUNASR = "funasr"
    SHERPA_ONNX = "sherpa-onnx"
    WHISPER = "whisper"
    VOSK = "vosk"


_CUT_OFF = re.compile(r'\[\s*[{"\[]')  # JSON that breaks off, rather than [laughter]
_BY_ENDING = {".jsonl": FileFormat.JSONL, ".ndjson": FileFormat.JSONL, ".ctm": FileFormat.CTM}
_OTHERS = (
    ("TTML or other XML", re.compile(r"<\?xml|<tt[\s>]", re.IGNORECASE)),
    ("HTML", re.compile(r"<!doctype html|<html", re.IGNORECASE)),
    ("SubStation Alpha", re.compile(r"\[Script Info\]")),
    ("Scenarist captions", re.compile(r"Scenarist_SCC")),
    ("a Praat TextGrid", re.compile(r'File type = "ooTextFile')),
    ("RTF", re.compile(r"\{\\rtf")),
    ("PDF", re.compile(r"%PDF")),
    ("lyrics (LRC)", re.compile(r"\[(?:ti|ar|al|by|length|offset):|\[\d+:\d+[.:]\d+\]")),
    ("MicroDVD captions", re.compile(r"\{\d+\}\{\d+\}")),
    ("a table", re.compile(r"(?:start|begin)[\t,;](?:end|stop)[\t,;]", re.IGNORECASE)),
    ("STM", re.compile(r"\S+ \S+ \S+ \d+\.\d+ \d+\.\d+ (?:<[^>]*> )?\S")),
    ("a table", re.compile(r"[\d.]+\t[\d.]+\t")),
)


def recognised_format(name: str, head: Sequence[str]) -> FileFormat:
    """Return a file's format. name: the file's. head: its first lines, at most ``LOOKED_AT_LINES``.

    Raises FatalError that says what the file looks like, and never quotes it.
    """
    lines = [line.removeprefix("\ufeff").strip() for line in head]
    lines = [line for line in lines if line]
    if lines and lines[0].startswith(("{", "[")) and (found := _json_format(name, "\n".join(lines))) is not None:
        return found
    if found := _written_format(lines):
        return found
    if other := _foreign_format(lines):
        raise _refusal(name, f"looks like {other}")
    return _BY_ENDING.get(Path(name).suffix, FileFormat.TEXT)


def _written_format(lines: Sequence[str]) -> FileFormat | None:
    """Return the format of captions and of CTM."""
    if lines and lines[0].startswith("WEBVTT"):
        return FileFormat.VTT
    if any(TIMING.match(line) for line in lines):
        return FileFormat.SRT
    words = [line for line in lines if not line.startswith(";;")]
    return FileFormat.CTM if words and all(map(is_ctm, words)) else None


def _foreign_format(lines: Sequence[str]) -> str | None:
    """Return the name of what is not read here."""
    for other, sign in _OTHERS if lines else ():
        if sign.match(lines[0]):
            return other
    if any("-->" in line for line in lines):
        return "captions whose times are not written as SRT or WebVTT write them"
    return "no text" if any("\0" in line for line in lines) else None


def _json_format(name: str, text: str) -> FileFormat | None:
    """Return the format of JSON; None where it is none after all."""
    messages = _first_objects(text)
    if messages is None:
        return FileFormat.JSONL if text.startswith("{") else None
    for message in messages:
        found = recogniser_of(message)
        if found is not None:
            return FileFormat(found)
    if name.endswith((".jsonl", ".ndjson")) or (text.startswith("{") and any(map(_is_event, messages))):
        return FileFormat.JSONL
    raise _refusal(name, "is JSON, but of no recogniser that is known here, and no word events either")


def _is_event(message: dict[str, object]) -> bool:
    return any(field in message for field in ("version", "session", "words", "utterance_end", "session_end"))


def _first_objects(text: str) -> list[dict[str, object]] | None:
    """Return the objects that a text begins with, those of an array too, a cut-off one left out; None: no JSON."""
    decoder = json.JSONDecoder()
    at = 1 if text.startswith("[") else 0
    found: list[dict[str, object]] = []
    while at < len(text):
        if text[at] in " \t\r\n,]":
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            break
        if isinstance(value, dict):
            found.append(value)
        elif not found and text[at : at + 1] in ("", ",", "]"):
            return [{}]  # an array of numbers, say: JSON, and nobody's
        elif not found:
            break
    return found or ([{}] if _CUT_OFF.match(text) else None)


def _refusal(name: str, why: str) -> FatalError:
    shown = "standard input" if name == "-" else name
    return FatalError(f"{shown} {why}: nothing was sent. --format says what it is: {', '.join(list(FileFormat)[1:])}")
