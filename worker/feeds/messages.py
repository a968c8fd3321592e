"""Reads JSON values from text as it comes: one value a line, values over several lines, or one array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from json import JSONDecodeError

from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.json_text import UnheldJsonError, is_cut_off, json_value_at, with_decimal_points
from caesura.worker.feeds.vcons import within_vcon

_BEGINNING, _ENDING = ("{", "["), ("}", "]")
_TRIES, _TRIED_AT_ONCE = 8, 65_536


def json_messages(
    lines: Iterable[str | None],
    *,
    passed_over: frozenset[str] = frozenset(),
    broken: Callable[[UnreadableMessageError], None] | None = None,
) -> Iterator[dict[str, object]]:
    """Yield the objects that lines of text hold, each as soon as its line is there; an array gives its items.

    None stands for a line that is not UTF-8; a JSON value that contains it is refused. passed_over: lines
    that are no JSON and mean nothing, such as ``Done!``. broken: told of what is no JSON object, and reading goes on;
    without it UnreadableMessageError is raised.
    """
    tell = broken or _raise
    waiting: list[str] = []
    begun = number = come = tried = 0
    for number, line in enumerate(lines, start=1):
        come += len(line or "")
        if line is None:
            tell(UnreadableMessageError(f"line {number}: expected UTF-8"))
            waiting = []
            continue
        if waiting and line.startswith("{") and not waiting[0].startswith("["):
            tell(UnreadableMessageError(f"line {begun}: expected JSON"))  # the next one begins before this one ended
            waiting = []
        if not waiting:
            begun = number
            if not line.strip() or line.strip() in passed_over:
                continue
        waiting.append(line)
        tried_enough = tried > _TRIES * come + _TRIED_AT_ONCE  # trying again at each such line would take a square
        if not line.rstrip().endswith(_ENDING) or (len(waiting) > 1 and line[:1] not in _ENDING) or tried_enough:
            if line.lstrip()[:1] not in _BEGINNING and len(waiting) == 1:
                tell(UnreadableMessageError(f"line {number}: expected JSON"))
                waiting = []
            continue  # a value over several lines ends at the margin, as printers write it; else at the text's end
        text = "".join(waiting)
        tried += len(text)
        values = _values(text, begun, tell)
        if values is not None:
            waiting = []
            yield from _objects(values, number, tell)
    values = _values("".join(waiting), begun, tell)
    if values is None:
        cut_off = is_cut_off("".join(waiting))
        why = ", and the value that begins there is cut off: the file is incomplete" if cut_off else ""
        tell(UnreadableMessageError(f"line {begun}: expected JSON{why}"))
    yield from _objects(values or (), number, tell)


def _raise(error: UnreadableMessageError) -> None:
    raise error


def _values(text: str, line: int, tell: Callable[[UnreadableMessageError], None]) -> list[object] | None:
    """Return all JSON values of a text, up to one that is told and not held; None where it is none, or none yet."""
    values: list[object] = []
    at = 0
    text = text.strip()
    while at < len(text):
        try:
            value, at = json_value_at(text, at)
        except UnheldJsonError as error:
            tell(UnreadableMessageError(f"line {line}: expected JSON, not {error.msg}"))
            return values
        except JSONDecodeError:
            pointed = with_decimal_points(text)
            if pointed == text:
                return None
            text = pointed
            continue
        values.append(value)
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
    return values


def _objects(
    values: Iterable[object], line: int, tell: Callable[[UnreadableMessageError], None]
) -> Iterator[dict[str, object]]:
    for value in values:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield from within_vcon(one)
            elif one is not None or not isinstance(
                value, list
            ):  # a library's answer may be a list with nulls behind it
                tell(UnreadableMessageError(f"line {line}: expected JSON objects"))
