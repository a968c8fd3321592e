"""Text that nobody has checked is JSON or one kind of error."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.structure import MAX_DEPTH
from caesura.worker.feeds.json_text import UnheldJsonError, json_value, json_value_at
from caesura.worker.feeds.refusal import event_as_read
from tests.unit.feeds.spoken import nested


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        '{"a": ' + "9" * 5000 + "}",
        "-" + "9" * 5000,
        '{"words": "one", "words": "two"}',
        '[{"a": {"b": 1, "b": 1}}]',
        '{"start": NaN}',
        "[-Infinity]",
        "[1e400]",
    ],
)
def test_a_value_that_no_event_may_hold_is_an_error_of_json(text: str) -> None:
    with pytest.raises(UnheldJsonError):
        json_value(text)
    with pytest.raises(UnheldJsonError):
        json_value_at(text, 0)


@given(text=st.text(alphabet='{}[]":, 1e-\\"ut\n', max_size=12))
def test_any_other_text_is_what_python_says_of_it(text: str) -> None:
    expected = outcome(strict, text)
    if expected != "unheld":
        assert outcome(json_value, text) == expected


def strict(text: str) -> object:
    """Read JSON as Python does; ``UnheldJsonError`` for what is not taken."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise UnheldJsonError("twice", text, 0)
        return dict(pairs)

    def finite(number: str) -> float:
        if not math.isfinite(float(number)):
            raise UnheldJsonError("not finite", text, 0)
        return float(number)

    return json.loads(text, object_pairs_hook=once, parse_float=finite)


def outcome(read: Callable[[str], object], text: str) -> object:
    """Return the value, or the place where there is none, or that it is not taken."""
    try:
        return "value", read(text)
    except UnheldJsonError:
        return "unheld"
    except json.JSONDecodeError as error:
        return "place", error.pos


@pytest.mark.parametrize(
    ("value", "told"),
    [(2**64, "more than 64 bits"), ("secret \ud800", "half a character"), (nested(5000), "nothing nested so deep")],
)
def test_a_value_that_no_event_can_hold_is_refused_by_name_and_not_quoted(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=told) as refused:
        event_as_read({"version": "1.2", "session": "s", "seq": 0, "lang": "en", "later": value})
    assert "secret" not in str(refused.value)
