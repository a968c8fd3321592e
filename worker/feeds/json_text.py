"""Parses JSON from untrusted text; every fault raises the same kind of error."""

from __future__ import annotations

import json
import re

from caesura.schemas import json_structure
from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.errors import InvalidEventError

_DECIMAL_COMMA = re.compile(r'("\s{0,9}:\s{0,9}-?\d{1,20}),(?=\d)')

_SIGN = re.compile(r'[{}\[\]]|"(?:[^"\\]++|\\.)*+"|"', re.DOTALL)
_DEEPEST = 500


_UNHELD = {
    DeadLetterReason.DUPLICATE_FIELD: "an object with a field twice",
    DeadLetterReason.OUT_OF_RANGE: "a number of too many digits, or NaN",
}


class UnheldJsonError(json.JSONDecodeError):
    """A value that is not taken: nested too deep, a field twice in an object, a number that no event can hold."""


def json_value(text: str) -> object:
    """Return the value that a text is, white space around it. Raises JSONDecodeError, of any text."""
    value, at = json_value_at(text, len(text) - len(text.lstrip()))
    if rest := text[at:].lstrip():
        raise json.JSONDecodeError("more than one value", text, len(text) - len(rest))
    return value


def json_value_at(text: str, at: int) -> tuple[object, int]:
    """Return the value that begins at a place of a text, and where it ends. Raises JSONDecodeError, of any text."""
    try:
        return json_structure.json_value_at(text, at)
    except InvalidEventError as error:
        raise UnheldJsonError(_UNHELD.get(error.reason, "nested too deep"), text, at) from None


def with_decimal_points(text: str) -> str:
    """Return a text that is no JSON with the decimal commas of its fields' numbers as points, in the same places.

    Some libraries write numbers as their process's locale has them: ``"end" : 0,500000``.
    """
    return _DECIMAL_COMMA.sub(r"\1.", text)


class Brackets:
    """Which objects, lists and texts are open in JSON, as its lines go by."""

    def __init__(self) -> None:
        self._opened: list[str] = []
        self._is_json = True
        self._in_text = False

    @property
    def is_open(self) -> bool:
        """Whether something is open, and all that was closed fits."""
        return self._is_json and (self._in_text or bool(self._opened))

    def take(self, text: str) -> None:
        """Take what follows, which does not begin within a text in quotes."""
        at = 0
        while self._is_json and not self._in_text and (sign := _SIGN.search(text, at)) is not None:
            at = sign.end()
            if sign[0] in "{[":
                self._opened.append("}" if sign[0] == "{" else "]")
                self._is_json = len(self._opened) <= _DEEPEST
            elif sign[0] in "}]":
                self._is_json = bool(self._opened) and self._opened.pop() == sign[0]
            elif len(sign[0]) == 1:
                self._in_text = True  # a quote that nothing closes


def is_cut_off(text: str) -> bool:
    """Tell whether a text breaks off within a value: something that it opens is never closed, all else fits."""
    brackets = Brackets()
    brackets.take(text)
    return brackets.is_open
