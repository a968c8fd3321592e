"""The page about recognisers holds: its Python runs, and its tables name every recogniser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.unit.feeds.spoken import fed, timed

PAGE = (Path(__file__).parents[3] / "docs" / "recognisers.md").read_text(encoding="utf-8")


class Written:
    """An object of a vendor's library that writes itself as JSON."""

    def __init__(self, **fields: object) -> None:
        self.fields = fields

    def json(self) -> str:
        return json.dumps(self.fields)

    def to_json(self, *, indent: int | None) -> str:
        return json.dumps(self.fields, indent=indent)


_WORD = {"word": "yes", "start": 0.1, "end": 0.4, "confidence": 0.9}
_ITEM = SimpleNamespace(
    item_type="pronunciation",
    content="yes",
    start_time=0.1,
    end_time=0.4,
    speaker=None,
    confidence=0.9,
    stable=None,
)
_RESULT = SimpleNamespace(
    result_id="a", is_partial=False, end_time=0.4, channel_id="ch_0", alternatives=[SimpleNamespace(items=[_ITEM])]
)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("deepgram", Written(type="Results", is_final=True, channel={"alternatives": [{"words": [_WORD]}]})),
        (
            "google",
            Written(
                results=[
                    {
                        "isFinal": True,
                        "resultEndTime": "0.4s",
                        "alternatives": [{"words": [{"word": "yes", "startTime": "0.1s", "endTime": "0.4s"}]}],
                    }
                ],
                speechEventType=0,
                requestId="0",
            ),
        ),
        ("aws", SimpleNamespace(transcript=SimpleNamespace(results=[_RESULT]))),
    ],
)
def test_the_python_writes_messages_that_are_read(name: str, given: object) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    functions: dict[str, Callable[[object], str]] = {}
    exec(compile(example, "recognisers.md", "exec"), functions)  # noqa: S102 - the page is the test
    line = functions[f"{name}_line"](given)
    assert "\n" not in line
    events = fed(name, [json.loads(line)])
    (session,) = {event.session for event in events}
    assert timed(events, session) == [("yes", 100, 400)]
