"""What no worker would take is said before it is sent, whatever its fields hold."""

from __future__ import annotations

import pytest

from caesura.worker.feeds.refusal import event_as_read
from tests.harness.deep import nested


@pytest.mark.parametrize(
    ("value", "told"),
    [(2**64, "more than 64 bits"), ("secret \ud800", "half a character"), (nested(5000), "nothing nested so deep")],
)
def test_a_value_that_no_event_can_hold_is_refused_by_name_and_not_quoted(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=told) as refused:
        event_as_read({"version": "1.2", "session": "s", "seq": 0, "lang": "en", "later": value})
    assert "secret" not in str(refused.value)
