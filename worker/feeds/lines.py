"""The lines of a file, or of standard input."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from caesura.worker.errors import FatalError
from caesura.worker.escaping import escaped

_LONGEST_LINE_BYTES = 256 * 1024 * 1024  # a recording of days is one line of JSON; a device without an end is none

_SNIFFED_BYTES = 4096
_SOUND = "{} sound: give it to a recogniser; its output can be read here"
_DOCUMENT = "{}: save it as plain text (UTF-8)"
_BINARY_KINDS = tuple(
    (re.compile(signature, re.DOTALL), advice.format(kind))
    for signature, kind, advice in (
        (rb"R(?:IFF|IFX|F64)....WAVE", "WAV", _SOUND),
        (rb"ID3[\x02-\x04]|\xff[\xe2\xe3\xf2-\xf7\xfa\xfb]", "MP3", _SOUND),
        (rb"OggS\0", "Ogg", _SOUND),
        (rb"fLaC[\0\x80]", "FLAC", _SOUND),
        (rb"\xff[\xf1\xf8\xf9]", "AAC", _SOUND),
        (rb"\0...ftyp", "MPEG-4", _SOUND),
        (rb"\x1aE\xdf\xa3", "WebM or Matroska", _SOUND),
        (rb"#!AMR", "AMR", _SOUND),
        (rb"FORM....AIF[FC]", "AIFF", _SOUND),
        (rb"\.snd\0", "AU", _SOUND),
        (rb"caff\0", "CAF", _SOUND),
        (rb"NIST_1A\n", "SPHERE", _SOUND),
        (rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "Windows Media", _SOUND),
        (rb"RIFF....AVI ", "AVI", _SOUND),
        (rb"%PDF-", "PDF", _DOCUMENT),
        (rb"PK\x03\x04.*word/", "a Word document (docx)", _DOCUMENT),
        (rb"PK\x03\x04.*xl/", "an Excel workbook (xlsx)", _DOCUMENT),
        (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", "an OpenDocument file", _DOCUMENT),
        (rb"PK\x03\x04", "a zip archive or an office document", "{}: unpack it, or save it as plain text (UTF-8)"),
        (rb"\xd0\xcf\x11\xe0", "an old Office document (doc)", _DOCUMENT),
        (rb"\x1f\x8b\x08", "gzip", "{}: unpack it"),
        (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a", "an image", "{}, and no text"),
    )
)


def read_lines(file: str, *, escaped_json: bool = False, longest_bytes: int = _LONGEST_LINE_BYTES) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, or of standard input for ``-``, as they come. FatalError with the reason.

    Bytes are decoded here, line by line: an interpreter's standard input may let what is no UTF-8 pass in disguise, and
    break where it is printed. escaped_json: in a file that begins as JSON does, a byte that is no UTF-8 becomes half a
    character, which no event may hold: whisper.cpp parts characters in fields that are not read.
    """
    escaped: bool | None = None
    for line, at in _lines(file, longest_bytes):
        if escaped is None and line.strip():
            escaped = escaped_json and line.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
        try:
            yield _decoded(line, at)
        except UnicodeDecodeError as error:
            if escaped:
                yield line.decode("utf-8", "surrogateescape")
                continue
            raise FatalError(f"{shown_name(file)} {_no_utf_8(line, at, error)}") from None


def readable_lines(file: str, *, longest_bytes: int = _LONGEST_LINE_BYTES) -> Iterator[str | None]:
    """Yield what ``read_lines`` does, and None for a line that is not UTF-8: the lines after it are read as well."""
    for line, at in _lines(file, longest_bytes):
        try:
            yield _decoded(line, at)
        except UnicodeDecodeError:
            yield None


def _lines(file: str, longest_bytes: int) -> Iterator[tuple[bytes, int]]:
    """Yield each line as it comes, and at which byte it begins. A carriage return alone ends one, too."""
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as lines:
            if (kind := _binary_kind(lines)) is not None:
                raise FatalError(f"{shown_name(file)} is {kind}")
            at = 0
            while line := lines.readline(longest_bytes + 1):
                if len(line) > longest_bytes:
                    raise FatalError(f"{shown_name(file)} has a line of more than {longest_bytes} bytes")
                for part in line.splitlines(keepends=True) if b"\r" in line[:-2] else (line,):
                    yield part, at
                    at += len(part)
    except OSError as error:
        raise FatalError(f"{shown_name(file)} cannot be read: {error.strerror}") from error


def _binary_kind(lines: IO[bytes]) -> str | None:
    """Return what a file is that has no text in it, and what to do, by its first bytes, as far as they are there."""
    head = lines.peek(_SNIFFED_BYTES)[:_SNIFFED_BYTES] if isinstance(lines, io.BufferedReader) else b""
    return next((kind for signature, kind in _BINARY_KINDS if signature.match(head)), None)


def _no_utf_8(line: bytes, at: int, error: UnicodeDecodeError) -> str:
    """Return what a line is that is no UTF-8, and what its user can do."""
    if at == 0 and line.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return "is UTF-16 or UTF-32: save it as UTF-8"
    command = "iconv -f WINDOWS-1252 -t UTF-8"
    return f"is not UTF-8 text (byte {at + error.start}); if it is Windows-1252 or Latin-1, `{command}` makes it so"


def _decoded(line: bytes, at: int) -> str:
    return line.decode("utf-8" if at else "utf-8-sig")


def shown_name(file: str) -> str:
    """Return a file's name as messages say it, on one line (``escaped``)."""
    return "standard input" if file == "-" else escaped(file)
