"""A route's name: what producers may ask for is what an operator may name."""

from __future__ import annotations

import msgspec
import pytest

from schemas.codec import decode_event
from schemas.errors import InvalidEventError
from worker.runtime.routes import Route


@pytest.mark.parametrize("target", ["de", "zh-Hans", "captions.v2", "x" * 64])
def test_a_name_that_an_operator_may_give_is_one_that_a_producer_may_ask_for(target: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", "targets": [target]}
    assert decode_event(msgspec.msgpack.encode(event)).targets == (Route(target=target, topic="t").target,)


@pytest.mark.parametrize("target", ["", "d e", "de/formal", "x" * 65, "de\n"])
def test_a_name_that_neither_may_use_is_refused_to_both(target: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", "targets": [target]}
    with pytest.raises(InvalidEventError):
        decode_event(msgspec.msgpack.encode(event))
    with pytest.raises(ValueError, match="target"):
        Route(target=target, topic="t")
