"""Recognises files in formats that are not read here, and names them, so that they are never sent as words.

Prose must stay text: "a: one thing", a list under a heading, an agenda with times, "start, end, and again". A sign is
something that people never say: two clock times joined by a comma, a table's head, JSON that parses as an object.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import JSONDecodeError

from caesura.worker.feeds.formats.cues import is_like_time_line
from caesura.worker.feeds.json_text import UnheldJsonError, json_value, json_value_at

_FIRST_LINES = (
    ("TTML or other XML", re.compile(r"<\?xml|<tt[\s>]", re.IGNORECASE)),
    ("HTML", re.compile(r"<!doctype html|<html", re.IGNORECASE)),
    ("SAMI captions", re.compile(r"<sami", re.IGNORECASE)),
    (
        "TTML or other XML",  # a tag with an attribute in quotes, or one that is closed at the line's end
        re.compile(
            r"<[a-z][\w:.-]*\s(?:[^<>]{0,200}\s)?[\w:.-]{1,40}=[\"']|<(?!(?:i|b|u|em|strong)>)([a-z][\w:.-]*)>.*</\1>$",
            re.IGNORECASE,
        ),
    ),
    ("SubStation Alpha", re.compile(r"\[Script Info\]")),
    ("SubViewer", re.compile(r"\[INFORMATION\]$")),
    ("Scenarist captions", re.compile(r"Scenarist_SCC")),
    ("a Praat TextGrid", re.compile(r'File type = "ooTextFile')),
    ("RTF", re.compile(r"\{\\rtf")),
    ("lyrics (LRC)", re.compile(r"\[(?:ti|ar|al|by|length|offset):|\[\d+:\d+[.:]\d+\]")),
    ("MicroDVD captions", re.compile(r"\{(?:\d+|DEFAULT)\}\{[^{}]*\}")),
    ("MPL2 captions", re.compile(r"\[\d+\]\[\d*\]")),
    ("a table", re.compile(r"(?:start|begin)[\t,;](?:end|stop)[\t,;]", re.IGNORECASE)),
    ("a table", re.compile(r"[\d.]+\t[\d.]+\t")),
    ("a table", re.compile(r"\d+\.\d+[,;]\d+\.\d+[,;]\S")),
    ("a transcript with times, as Zoom writes one", re.compile(r"\d+:\d\d:\d\d(?:[.,]\d+)?\t")),
)
_STM = re.compile(r"(?:\S{1,99}\s+){3}(?:\d+\.\d+\s+\d+(?:\.\d+)?|\d+\s+\d+\.\d+|\d+\s+\d+(?=\s+<[^<>\s]*>))(?:\s|$)")
_TRN = re.compile(r".*\s\((?=[^()\s]*\d)[\w.:-]{2,99}\)$")
_ANY_LINES = (
    (
        "captions as SubViewer or YouTube (SBV) write them",
        re.compile(r"^(?:\d+:)?\d+:\d+[.,]\d+\s*,\s*(?:\d+:)?\d+:\d+[.,]\d+$"),
    ),
    ("a transcript with times, as f4 writes one", re.compile(r"#\d\d:\d\d:\d\d-\d#")),
    ("a CHAT transcript", re.compile(r"^@(?:UTF8|Begin)$")),
    ("SubStation Alpha", re.compile(r"^Dialogue:\s?\d+,\d+:\d\d:\d\d\.\d\d,")),
    (
        "captions whose times are frames",
        re.compile(r"^(?:\d+\s)?\d\d:\d\d:\d\d[:;]\d\d\s\d\d:\d\d:\d\d[:;]\d\d(?:\s|$)"),
    ),
    ("no text", re.compile(r"\0")),
)
_CLOCK = r"\d{1,3}(?::\d\d){1,2}(?:[.,]\d{1,3})?"
_DATE = r"(?:\d{4}-\d\d-\d\d[T ])?"
_SPAN_TIME = r"(?:\d{1,6}(?:\.\d{1,6})?s|\d{1,6}\.\d{1,6}|\d{1,3}(?::\d\d){1,2}(?:[.,]\d{1,3})?)"
_BETWEEN = r"\s{0,3}(?:-{1,2}>|[-–~]|→)\s{0,3}"
_SPAN = re.compile(rf"\[{_SPAN_TIME}{_BETWEEN}{_SPAN_TIME}\](?:\s|$)")
_LOOSE_SPAN = re.compile(
    rf"(?:[^\s\[{{(]{{1,40}} )?[\[{{(]\s?{_SPAN_TIME}(?:{_BETWEEN}|,\s?){_SPAN_TIME}\s?[\]}})]:?(?:\s.*)?|"
    rf"{_SPAN_TIME}{_BETWEEN}{_SPAN_TIME}:?\s.*|\d{{1,6}}\.\d{{1,6}}\s+\d{{1,6}}\.\d{{1,6}}\s+\S.*|start[=:]\s?{_SPAN_TIME},?\s(?:stop|end)[=:]\s?{_SPAN_TIME}\b.*"
)
_STAMPED = re.compile(
    rf"[\[(]?{_DATE}(\d{{1,3}}:\d\d:\d\d(?:[.,]\d{{1,3}})?)\b.*|[\[(]({_CLOCK})[\])].*|({_CLOCK})|"
    rf"\S[^:\n]{{0,60}}(?:\s{{2,9}}|\s[\[(]|\t|\d\s|[\])]\s)({_CLOCK})[\])]?:?|"
    rf"\S[^:\n]{{0,60}}\s(\d{{1,2}}:\d\d:\d\d)"
)
_LOOSELY_STAMPED = re.compile(
    rf"[\[(]?({_CLOCK})(?:[\])]|[\])]?\s|(?=[^\W\d])).*|\S[^:\n]{{0,60}}[\s,]\s?[\[(]?({_CLOCK})[\])]?:?|"
    rf"\S[^:\n]{{0,60}}\s[\[(]({_CLOCK})[\])]:?\s.*|(\d{{1,5}}(?:\.\d{{1,3}})?)s\s.*|"
    rf"\S[^:\n]{{0,60}}(?::\s{{0,3}}(?=[\[(])|\s{{2,9}}|\t)[\[(]?({_CLOCK})[\])]?:?\s.*"
)
_WIDE = str.maketrans("（）［］【】：～", "()[][]:~")
_LETTERED_CLOCK = re.compile(r"\b(?:(\d{1,2})h ?)?(\d{1,3})m(?:in)? ?(\d\d?)s\b")
_SPELT_CLOCK = re.compile(r"(?:(\d{1,2}) hours? )?(?:(\d{1,2}) minutes? )?(\d{1,2}) seconds?", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_|_(?!\w)")
_SERVER_SENT = re.compile(r"data:\s*(?:\{|\[(?:[{\"]|DONE\]))")
_COLUMN_SEPARATOR = re.compile(r"[\t,;]")
_STARTS = re.compile(r"(?:start|begin|from|onset)(?:[ _-]?(?:time|ms|s|sec|seconds))?|t?start_?time", re.IGNORECASE)
_ENDS = re.compile(r"(?:end|stop|to|offset|duration)(?:[ _-]?(?:time|ms|s|sec|seconds))?|t?end_?time", re.IGNORECASE)
_PROTOBUF_PART = re.compile(r"[a-z_]\w*\s*(?::\s*)?\{$")
_PROTOBUF_FIELD = re.compile(r"[a-z_]\w*:\s*\S+$")
_TEXT_AND_TIMES = re.compile(r".*[,;\t](\d+\.\d+)[,;\t](\d+\.\d+)$")
_YAML = re.compile(r"(?P<margin>\s*)(?:-\s+)?(?P<key>[a-z_][\w-]*):(?:\s+(?P<value>\S.*))?$|\s*-\s+\S+$")
_MOST_OPENINGS = 16
_YAML_KEYS = frozenset({"word", "words", "text", "start", "end", "transcript", "segments", "results", "alternatives"})


def foreign_first_line(line: str) -> str | None:
    """Return what a file's first line says that it is; None where it says nothing."""
    return next((other for other, sign in _FIRST_LINES if sign.match(line)), None)


def foreign_format(head: Sequence[str]) -> str | None:
    """Return what a file looks like, by its first lines that are not blank; None if it looks like text."""
    lines = [line.strip() for line in head]
    if not lines:
        return None
    untimed = "captions whose times are not written as SRT or WebVTT write them"
    found = [
        *filter(None, [foreign_first_line(lines[0])]),
        *(other for other, sign in _ANY_LINES if any(map(sign.search, lines))),
        *([untimed] if any(map(is_like_time_line, lines)) else []),
        *(other for other, looks_so in _WHOLE_HEADS if looks_so(head)),
        *filter(None, map(data_of_line, _from_each(lines))),
    ]
    return found[0] if found else None


def data_of_line(line: str) -> str | None:
    """Return what a line begins with that is a message and no speech; None where it is none.

    A list is one only where an object or a list stands in it: [1] and ["sic"] are an author's.
    """
    text = line.strip()
    if _SERVER_SENT.match(text):
        return "server-sent events (data: ...)"
    if not text.startswith(("{", "[")):
        return None
    if _SPAN.match(text):
        return "a transcript with times"
    try:
        value, _ = json_value_at(text, 0)
    except UnheldJsonError:
        return "JSON among other lines"
    except JSONDecodeError:
        return None
    data = any(isinstance(one, dict | list) for one in value) if isinstance(value, list) else bool(value)
    return "JSON among other lines" if data else None


def is_lone_value(text: str) -> bool:
    """Tell whether a text is one JSON value that says nothing: null, an empty list, or one string in quotes.

    A number, and true, are words as well.
    """
    try:
        value = json_value(text)
    except JSONDecodeError:
        return False
    return value is None or value == [] or isinstance(value, str)


def _from_each(lines: Sequence[str]) -> list[str]:
    """Return each line, with all that follow it where an object or a list may begin there that goes over several."""
    openings = [at for at, line in enumerate(lines) if line in ("{", "[", "[{")][:_MOST_OPENINGS]
    return [*lines, *("\n".join(lines[at:]) for at in openings)]


def _is_table(head: Sequence[str]) -> bool:
    """Tell whether each line has as many columns or ends with a start and an end, or the first names such columns."""
    for sign in (r"\t+", r"\|"):
        counts = {len(re.findall(sign, line.strip())) for line in head}
        if len(head) > 2 and len(counts) == 1 and counts.pop() > 1:
            return True
    times = [_TEXT_AND_TIMES.match(line.rstrip()) for line in head]
    if all(found is not None and float(found[1]) <= float(found[2]) for found in times):
        return True
    rows = [[cell.strip("\"' ") for cell in _COLUMN_SEPARATOR.split(line)] for line in head[:2]]
    cells = rows[0]
    starts = [place for place, cell in enumerate(cells) if _STARTS.fullmatch(cell)]
    ends = [place for place, cell in enumerate(cells) if _ENDS.fullmatch(cell)]
    if len(cells) < 3 or not starts or not ends:
        return False
    if not re.search(r"[,;] ", head[0]):
        return True
    values = rows[-1]
    return len(values) == len(cells) and any(values[place][:1].isdigit() for place in (*starts, *ends))


def _is_protobuf(head: Sequence[str]) -> bool:
    """Tell whether the file begins with fields, if any, and then a message within it."""
    lines = [line.strip() for line in head]
    part = next((place for place, line in enumerate(lines) if _PROTOBUF_PART.match(line)), None)
    return part is not None and all(map(_PROTOBUF_FIELD.match, lines[:part]))


def _is_yaml(head: Sequence[str]) -> bool:
    """Tell whether every line is YAML's, a key in lower case, something is nested, and a key is one of transcripts'."""
    found = [_YAML.match(line.rstrip()) for line in head]
    fields = [one for one in found if one is not None]
    if len(fields) < len(head) or not _YAML_KEYS & {one["key"] for one in fields}:
        return False
    pairs = zip(fields, head[1:], strict=False)
    return any(one["key"] and not one["value"] and after[:1] in (" ", "-") for one, after in pairs)


def _is_timed(head: Sequence[str]) -> bool:
    """Tell whether lines have times of a clock, which rise, and a third of all lines has one: a transcript's.

    A time is one of hh:mm:ss, or in brackets, at a line's beginning; or a clock's time that is a line of its own or
    stands behind a name. An agenda's times have two parts and text behind them: such times are a transcript's where
    the first is within the first minute or hour (``0:05``).
    """
    lines = [_with_clocks(line.strip()) for line in head]
    if any(map(_SPAN.match, lines)):
        return True
    times = [_seconds(match) for line in lines if (match := _STAMPED.fullmatch(line)) is not None]
    spans = [0.0 for line in lines if _LOOSE_SPAN.fullmatch(line) is not None]
    if _rise(times, len(lines)) or _rise(spans, len(lines)):
        return True
    loose = [match for line in lines if (match := _LOOSELY_STAMPED.fullmatch(line)) is not None]
    begins = bool(loose) and _clock(loose[0]).partition(":")[0].strip("0") == ""
    return begins and _rise([_seconds(match) for match in loose], len(lines))


def _with_clocks(line: str) -> str:
    """Return a line with narrow brackets, without emphasis, and times such as ``1h02m03s`` as a clock writes them."""
    if (spelt := _SPELT_CLOCK.fullmatch(line)) is not None:
        return f"{spelt[1] or 0}:{spelt[2] or 0:0>2}:{spelt[3]:0>2}"
    line = _EMPHASIS.sub("", line)
    return _LETTERED_CLOCK.sub(lambda told: f"{told[1] or 0}:{told[2]:0>2}:{told[3]:0>2}", line.translate(_WIDE))


def _rise(times: Sequence[float], lines: int) -> bool:
    return len(times) > 1 and 3 * len(times) >= lines and list(times) == sorted(times)


def _clock(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _seconds(match: re.Match[str]) -> float:
    seconds = 0.0
    for part in _clock(match).replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def _is_stm(head: Sequence[str]) -> bool:
    """Tell whether half of the lines that are no comments are NIST's STM."""
    lines = [line for line in head if not line.startswith(";;")]
    return 0 < len(lines) <= 2 * sum(_STM.match(line) is not None for line in lines)


def _is_trn(head: Sequence[str]) -> bool:
    """Tell whether each line ends with the name of its utterance, as sclite's and sherpa's results do."""
    return len(head) > 1 and all(_TRN.match(line) for line in head)


_WHOLE_HEADS = (
    ("STM", _is_stm),
    ("TRN", _is_trn),
    ("a transcript with times", _is_timed),
    ("a table", _is_table),
    ("a message in protobuf's text form", _is_protobuf),
    ("YAML", _is_yaml),
)
