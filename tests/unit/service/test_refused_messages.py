"""What a client of the service may not send, or not so fast: it is told, and its sessions go on."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from caesura.worker.settings.serving import ServeSettings
from tests.harness.service import ANSWER_WITHIN_S, close_of, closing_of, opened, received, serving, texts


@pytest.mark.parametrize(
    ("frame", "reason", "detail"),
    [
        ('{"words": ["two words"]}', "forbidden_character", "words[0].text"),
        ('{"words": [{"text": "a", "start_ms": -1}]}', "out_of_range", "words[0].start_ms"),
        ('{"wrods": ["secret"]}', "unknown_field", "did you mean words?"),
        ("no json", "malformed", "the message: expected JSON"),
        ("[1]", "malformed", "expected an object"),
        ('{"words": 3}', "wrong_type", "words"),
        ('{"words": ["a"], "version": "2.0"}', "unknown_version", "newer"),
        (b"\xc1", "malformed", "MessagePack"),
        (msgspec.msgpack.encode({"words": [float("nan")]}), "wrong_type", "words[0]"),
    ],
)
def test_a_message_that_is_not_taken_is_refused_by_name_and_the_session_goes_on(
    frame: str | bytes, reason: str, detail: str
) -> None:
    with serving() as served, opened(served) as client:
        client.send(json.dumps({"words": ["one"]}))
        client.send(frame)
        (*_, refusal) = received(client, "error")
        client.send(json.dumps({"words": ["two"], "session_end": True}))
        assert texts(received(client, "ended")) == ["one", "two"]

    assert (refusal["message"], refusal["reason"]) == (2, reason)
    assert detail in refusal["detail"]
    assert "secret" not in refusal["detail"]


@pytest.mark.parametrize(
    ("opening", "detail"),
    [
        ({"words": ["one"]}, "the first message opens the connection"),
        ({"lang": "english please"}, "lang: expected"),
        ({"tentativ": True}, "did you mean tentative?"),
        ({"wire": "xml"}, "wire: expected one of the names"),
        ({"options": {"emission": 3}}, "options.emission: expected"),
    ],
)
def test_an_opening_that_is_none_is_answered_with_what_is_wrong(opening: dict[str, object], detail: str) -> None:
    with serving() as served:
        with opened(served, opening) as client:
            (refusal,) = received(client, "error")
        assert detail in refusal["detail"]
        assert closing_of(served, opening)[0] == 4000


def test_who_sends_no_opening_in_time_is_let_go() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=0.1)) as served, connect(served.words, proxy=None) as client:
        (refusal,) = received(client, "error")
    assert refusal["reason"] == "opening_expected"


def test_too_many_refusals_close_the_connection() -> None:
    with serving(ServeSettings(port=0, max_refused_messages=2)) as served, opened(served) as client:
        for _ in range(4):
            client.send("{}{")
        (*_, closing) = received(client, "closing")
    assert closing["reason"] == "too_many_refused"


def test_limits_of_connections_sessions_and_size_are_told() -> None:
    limits = ServeSettings(port=0, max_connections=1, max_sessions_per_connection=1, max_message_bytes=2000)
    with serving(limits) as served, opened(served) as client:
        assert received(client, "ready")[0]["limits"] == {
            "message_bytes": 2000,
            "words_per_second": 500,
            "sessions": 1,
        }
        assert closing_of(served, {}) == (1013, "too_many_connections")
        client.send(json.dumps({"session": "a", "words": ["one"]}))
        client.send(json.dumps({"session": "b", "words": ["two"]}))
        (*_, refusal) = received(client, "error")
        assert refusal["reason"] == "too_many_sessions"
        client.send(json.dumps({"words": ["x" * 3000]}))
        assert close_of(client)[0] == 1009


def test_words_faster_than_allowed_are_read_more_slowly_and_none_is_lost() -> None:
    with serving(ServeSettings(port=0, max_words_per_second=100)) as served, opened(served) as client:
        began_s = time.monotonic()
        for start in range(0, 1200, 100):
            client.send(json.dumps({"words": [f"n{start + place}" for place in range(100)]}))
        client.send(json.dumps({"session_end": True}))
        assert len(texts(received(client, "ended"))) == 1200
    assert time.monotonic() - began_s > 1.5  # a thousand at once, two hundred at a hundred a second


def test_a_client_that_does_not_read_is_not_read_either_and_at_last_let_go() -> None:
    limits = ServeSettings(
        port=0, max_unsent_messages=16, send_timeout_s=0.5, max_words_per_second=1_000_000, max_queued_words=100
    )
    with serving(limits) as served, opened(served) as client:
        deadline_s = time.monotonic() + ANSWER_WITHIN_S
        sent = 0
        event = json.dumps({"words": [f"w{'x' * 40}-stop"] * 50})
        client.socket.settimeout(5)
        with suppress(ConnectionClosed, TimeoutError, OSError):
            while time.monotonic() < deadline_s:
                client.send(event)
                sent += 1
        assert time.monotonic() < deadline_s
        assert sent < 100_000
    with serving(limits) as again, opened(again) as other:
        other.send(json.dumps({"words": ["one"], "session_end": True}))
        assert texts(received(other, "ended")) == ["one"]
