"""A message that is not as its recogniser documents it: refused by name, and never quoted."""

from __future__ import annotations

import pytest

from tests.unit.feeds.spoken import Message, fed
from worker.feeds.hypothesis import UnreadableMessageError


@pytest.mark.parametrize(
    ("name", "message", "told"),
    [
        ("deepgram", {"type": "Results", "channel": {"alternatives": "secret"}}, "alternatives: expected a list"),
        ("assemblyai", {"type": "Turn", "words": [{"text": 7}]}, "text: expected text"),
        ("aws", {"Transcript": {"Results": [{"IsPartial": "secret"}]}}, "IsPartial: expected true or false"),
    ],
)
def test_a_message_that_is_not_as_documented_is_named_and_not_quoted(name: str, message: Message, told: str) -> None:
    with pytest.raises(UnreadableMessageError, match=told) as refused:
        fed(name, [message])
    assert "secret" not in str(refused.value)
