"""Text that nobody has checked is JSON or one kind of error."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.feeds.json_text import UnheldJsonError, json_value, json_value_at


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
        "-" + "9" * 5000,
    ],
)
def test_what_python_does_not_hold_is_an_error_of_json(text: str) -> None:
    with pytest.raises(UnheldJsonError):
        json_value(text)
    with pytest.raises(UnheldJsonError):
        json_value_at(text, 0)


@given(text=st.text(alphabet='{}[]":, 1e-\\"ut\n', max_size=12))
def test_any_other_text_is_what_python_says_of_it(text: str) -> None:
    assert outcome(json_value, text) == outcome(json.loads, text)


def outcome(read: Callable[[str], object], text: str) -> tuple[object, int | None]:
    """Return the value, or where there is none."""
    try:
        return read(text), None
    except json.JSONDecodeError as error:
        return None, error.pos
