"""A route's name: what producers may ask for is what an operator may name."""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.codec import decode_event
from caesura.schemas.errors import InvalidEventError
from caesura.worker.runtime.settings.routes import Route


@pytest.mark.parametrize("target", ["de", "zh-Hans", "captions.v2", "x" * 64])
def test_a_name_that_an_operator_may_give_is_one_that_a_producer_may_ask_for(target: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", "targets": [target]}
    assert decode_event(msgspec.msgpack.encode(event)).targets == (Route(target=target, topic="t").target,)


def test_a_rendering_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="rendering: verbatim, marked, fluent, and 'loud' is none of them"):
        Route.parse("de=translate.de:loud")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("lang", "not a tag", "lang: expected a language as BCP-47 writes it, such as en or zh-Hans"),
        ("targets", ["d e"], "targets[0]: expected a route's name, of 1 to 64 of A-Z, a-z, 0-9, dot, _ and -"),
        ("options", {"emission": "word"}, "options.emission: expected one of sentence, clause, settled"),
    ],
)
def test_a_producer_is_told_what_was_expected_and_not_what_was_found(field: str, value: object, told: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", field: value}
    with pytest.raises(InvalidEventError) as refused:
        decode_event(msgspec.msgpack.encode(event))
    assert refused.value.detail == told


@pytest.mark.parametrize("target", ["", "d e", "de/formal", "x" * 65, "de\n"])
def test_a_name_that_neither_may_use_is_refused_to_both(target: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", "targets": [target]}
    with pytest.raises(InvalidEventError):
        decode_event(msgspec.msgpack.encode(event))
    with pytest.raises(ValueError, match="target"):
        Route(target=target, topic="t")
