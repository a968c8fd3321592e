"""JSON values from text as it comes: a value a line, values over several lines, or one array of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from worker.feeds.hypothesis import UnreadableMessageError

__all__ = ["json_messages"]

_DECODER = json.JSONDecoder()
_ENDING = ("}", "]")


def json_messages(lines: Iterable[str], *, passed_over: frozenset[str] = frozenset()) -> Iterator[dict[str, object]]:
    """Yield the objects that lines of text hold, each as soon as its line is there; an array gives its items.

    passed_over: lines that are no JSON and mean nothing, such as ``Done!``. Raises UnreadableMessageError.
    """
    waiting: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if not waiting and (not line.strip() or line.strip() in passed_over):
            continue
        waiting.append(line)
        if not line.rstrip().endswith(_ENDING) or (len(waiting) > 1 and line[:1] not in _ENDING):
            continue  # a value over several lines ends at the margin, as printers write it; else at the text's end
        values = _values("".join(waiting))
        if values is not None:
            waiting = []
            yield from _objects(values, number)
    if waiting:
        values = _values("".join(waiting))
        if values is None:
            raise UnreadableMessageError(f"line {number - len(waiting) + 1}: expected JSON")
        yield from _objects(values, number)


def _values(text: str) -> list[object] | None:
    """Return all JSON values of a text; None where it is none, or none yet."""
    values: list[object] = []
    at = 0
    text = text.strip()
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return None
        values.append(value)
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
    return values


def _objects(values: Iterable[object], line: int) -> Iterator[dict[str, object]]:
    for value in values:
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                raise UnreadableMessageError(f"line {line}: expected JSON objects")
            yield one
