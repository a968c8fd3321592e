"""A caption's text without its markup: voices, time stamps within it, and which of it is marked.

Source: https://www.w3.org/TR/webvtt1/#webvtt-cue-text-parsing-rules
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from caesura.worker.feeds.times import clock_ms

_LONGEST_VOICE = 40
_TAG = re.compile(r"<(?![\s<>]|(?i:speaker|spk)[ _-]?\w{1,3}>)([^<>]*)>|\{\\[^{}]*\}|\{/?[biu]\}")
_ESCAPED_SPACE = re.compile(r"\\[Nh]")  # SubStation Alpha's, left in captions that were made of it
_UNSEEN = dict.fromkeys([0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF])
"""Characters without width: they say which way a line runs."""
_NO_CHARACTER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
_STAMP = re.compile(r"(?:\d+:)?\d+:\d+\.\d{3}")
_VOICE = re.compile(r"v(?:\.[^\s]*)?\s+(.+)", re.DOTALL)
_MARKING = re.compile(r"(/?)(?:u|b|i|c|font|span|mark|em|strong)(?:[.\s].*)?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of a line. stamp_ms: what stands before it says that it is spoken from then on. marked: within tags."""

    text: str
    stamp_ms: int | None = None
    voice: str = ""
    marked: bool = False


Line = tuple[TextPiece, ...]


def _unescaped(text: str) -> str:
    """Return a text with its entities as characters; a number of more digits than a character's is none."""
    return html.unescape(_NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text))


def text_of_lines(lines: Sequence[str], voice: str = "") -> tuple[Line, ...]:
    """Return the pieces of a cue's lines; voices and marks may go over several lines. voice: who speaks at first."""
    told: list[Line] = []
    depth = 0
    ruby = False  # within <rt>: how the characters before it are read aloud, and they are written already
    for line in (_ESCAPED_SPACE.sub(" ", written).translate(_UNSEEN) for written in lines):
        pieces: list[TextPiece] = []
        stamp_ms: int | None = None
        at = 0
        for tag in [*_TAG.finditer(line), None]:
            written = _unescaped(line[at : tag.start() if tag is not None else len(line)])
            if written and not ruby:
                pieces.append(TextPiece(written, stamp_ms, voice, depth > 0))
                stamp_ms = None
            if tag is None:
                if stamp_ms is not None:
                    pieces.append(TextPiece("", stamp_ms, voice))
                break
            at = tag.end()
            name = tag[1] or ""
            ruby = (ruby and name not in ("/rt", "/ruby")) or name.partition(".")[0] == "rt"
            if _STAMP.fullmatch(name):
                stamp_ms = clock_ms(name)
            elif (spoken_by := _VOICE.fullmatch(name)) is not None:
                voice = " ".join(_unescaped(spoken_by[1]).split())[:_LONGEST_VOICE]
            elif name == "/v":
                voice = ""
            elif (marking := _MARKING.fullmatch(name)) is not None:
                depth = max(0, depth - 1) if marking[1] else depth + 1
        told.append(tuple(pieces))
    return tuple(told)


def plain(line: Line) -> str:
    """Return a line's text, its words parted by one space."""
    return " ".join("".join(piece.text for piece in line).split())
