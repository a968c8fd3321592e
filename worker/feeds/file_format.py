"""Detects the format of a file of speech by its content, and refuses other formats by name.

A file is text only if it looks like text. Data, or captions of an unknown kind, must not reach the topic as words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from json import JSONDecodeError
from pathlib import Path

from caesura.schemas.events import WordsEvent
from caesura.worker.errors import FatalError
from caesura.worker.feeds.foreign_files import data_of_line, foreign_first_line, foreign_format, is_lone_value
from caesura.worker.feeds.formats.ctm import is_ctm
from caesura.worker.feeds.formats.cues import is_time_line
from caesura.worker.feeds.json_text import is_cut_off, json_value, json_value_at, with_decimal_points
from caesura.worker.feeds.lines import shown_name
from caesura.worker.feeds.recognisers.catalogue import RecogniserName, recogniser_of
from caesura.worker.feeds.vcons import within_vcon

LOOKED_AT_LINES = 400


class FileFormat(StrEnum):
    """What a file may be said to be, beside a recogniser's messages."""

    AUTO = "auto"
    TEXT = "text"
    JSONL = "jsonl"
    SRT = "srt"
    VTT = "vtt"
    CTM = "ctm"


SpeechFormat = FileFormat | RecogniserName
FORMATS: Sequence[SpeechFormat] = (*FileFormat, *RecogniserName)


def format_named(name: str) -> SpeechFormat:
    """Return the format of that name. Raises ValueError."""
    return RecogniserName(name) if name in set(RecogniserName) else FileFormat(name)


_UNKNOWN_JSON = "is JSON, but of no recogniser that is known here, and no word events either"
_EVENT_FIELDS = frozenset((*WordsEvent.__struct_fields__, "at_ms"))
_LIKE = {
    "segments": "segments as Whisper's transcripts have, but not with text, start and end",
    "utterances": "utterances as AssemblyAI's and Gladia's transcripts have, but not their words",
    "results": "results as Google's answers have, but not their alternatives",
    "tokens": "tokens as Soniox' messages have, but not their times",
    "words": "words as word events have, but not their session",
}
_UNREAD: Sequence[tuple[str, Callable[[dict[str, object]], bool]]] = (
    (
        "is a vCon without a transcript: an analysis of type transcript, its body as JSON, is what can be read",
        lambda message: "vcon" in message and isinstance(message.get("parties"), list),
    ),
    (
        "says where Google Cloud Storage has the transcript: the file that it names is what can be read",
        lambda message: "cloudStorageResult" in str(message.get("response")),
    ),
    (
        "is a chat (role, content), not what a recogniser heard: as a text, a line a turn, it can be read",
        lambda message: {"role", "content"} <= set(message) or _is_chat(message.get("messages", message.get("items"))),
    ),
)
_CUT_OFF = re.compile(r'\[\s*[{"\[]')  # JSON that breaks off, rather than [laughter]
_BY_ENDING = {".jsonl": FileFormat.JSONL, ".ndjson": FileFormat.JSONL, ".ctm": FileFormat.CTM}


def recognised_format(name: str, head: Sequence[str]) -> SpeechFormat:
    """Return a file's format. name: the file's. head: its first lines, at most ``LOOKED_AT_LINES``.

    Raises FatalError that says what the file looks like, and never quotes it.
    """
    given = [line.removeprefix("\ufeff").rstrip() for line in head]
    given = [line for line in given if line]
    lines = [line.strip() for line in given]
    if is_lone_value("\n".join(lines)):
        raise _refusal(name, _UNKNOWN_JSON)
    if lines and lines[0].startswith(("{", "[")) and (other := foreign_first_line(lines[0])) is not None:
        raise _refusal(name, f"looks like {other}")
    if lines and lines[0].startswith(("{", "[")) and (found := _json_format(name, "\n".join(lines), head)) is not None:
        return found
    if found := _written_format(lines):
        return found
    by_ending = _BY_ENDING.get(Path(name).suffix)
    if by_ending is None and (other := foreign_format(given)):
        raise _refusal(name, f"looks like {other}")
    return by_ending or FileFormat.TEXT


def spoken_format(name: str, head: Sequence[str]) -> str | None:
    """Return what a text's first lines are where they are no text but JSON, captions or CTM; None where they are text.

    What is like neither may be text: its reader decides.
    """
    try:
        found = recognised_format(name, head)
    except FatalError:
        first = next((line.strip().removeprefix("\ufeff") for line in head if line.strip()), "")
        return "JSON" if first.startswith(("{", "[", '"')) else None
    if found is FileFormat.TEXT:
        return None
    captions = found in (FileFormat.SRT, FileFormat.VTT, FileFormat.CTM)
    return found.value.upper() if captions else f"JSON ({found})"


def spoken_lines(name: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text whose head looked like one. Raises FatalError at the first that is a message."""
    for number, line in enumerate(lines, start=1):
        if (other := data_of_line(line)) is not None:
            raise _refusal(name, f"line {number} looks like {other}", sent="nothing from there on was sent")
        yield line


def _written_format(lines: Sequence[str]) -> FileFormat | None:
    """Return the format of captions and of CTM."""
    if lines and lines[0].startswith("WEBVTT"):
        return FileFormat.VTT
    if any(map(is_time_line, lines)):
        return FileFormat.SRT
    words = [line for line in lines if not line.startswith(";;")]
    return FileFormat.CTM if words and 2 * sum(map(is_ctm, words)) > len(words) else None  # its reader names the others


def _json_format(name: str, text: str, head: Sequence[str]) -> SpeechFormat | None:
    """Return the format of JSON; None where it is none after all. text: the head's lines that are not blank."""
    messages = _first_objects(text)
    if messages is None and is_cut_off(text) and Path(name).suffix not in _BY_ENDING:
        raise _refusal(name, "is JSON that is cut off: the file is incomplete")
    if messages is None and text.startswith("{") and is_cut_off(text.partition("\n")[0]):
        raise _refusal(name, f"is not JSON: line {_line_of_fault(head)} has what no value has")
    if messages is None:
        return FileFormat.JSONL if text.startswith("{") else None
    for message in messages:
        found = recogniser_of(message)
        if found is not None:
            return found
    lines = name.endswith((".jsonl", ".ndjson")) or text.startswith("{")
    if lines and any(map(_is_event, messages)):
        return FileFormat.JSONL
    unread = (why for why, looks_so in _UNREAD if any(map(looks_so, messages)))
    raise _refusal(name, next(unread, _UNKNOWN_JSON + _near(messages)))


def _line_of_fault(head: Sequence[str]) -> int:
    """Return the line at which lines of text are no JSON."""
    try:
        json_value("".join(head))
    except JSONDecodeError as error:
        return error.lineno
    return 1


def _is_chat(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) and {"role", "content"} <= set(one) for one in value)


def _is_event(message: dict[str, object]) -> bool:
    """Tell whether an object has a session, or more fields of a word event than others."""
    known = sum(field in _EVENT_FIELDS for field in message) + ("session" in message)
    return 2 * known > len(message)


def _near(messages: Sequence[dict[str, object]]) -> str:
    """Return which format has a field that these have, too."""
    fields = {field for message in messages for field, value in message.items() if isinstance(value, list | dict)}
    return next((f"; it has {like}" for field, like in _LIKE.items() if field in fields), "")


def _first_objects(text: str) -> list[dict[str, object]] | None:
    """Return the objects that a text begins with, those of an array too, a cut-off one left out; None: no JSON."""
    at = 1 if text.startswith("[") else 0
    found: list[dict[str, object]] = []
    while at < len(text):
        if text[at] in " \t\r\n,]":
            at += 1
            continue
        try:
            value, at = json_value_at(text, at)
        except JSONDecodeError:
            pointed = with_decimal_points(text)
            if pointed == text:
                break
            text = pointed
            continue
        if isinstance(value, dict):
            found += within_vcon(value)
        elif not found and text[at : at + 1] in ("", ",", "]"):
            return [{}]  # JSON of no known recogniser, such as an array of numbers
        elif not found:
            break
    return found or ([{}] if _CUT_OFF.match(text) else None)


def _refusal(name: str, why: str, *, sent: str = "nothing was sent") -> FatalError:
    return FatalError(f"{shown_name(name)} {why}: {sent}. If it is another format, name that one (--format)")
