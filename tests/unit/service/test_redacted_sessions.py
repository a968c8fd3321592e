"""A client that asks for redaction: no message, log or metric carries what was redacted, however the words come."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Iterator
from contextlib import closing

import pytest

from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.errors import FatalError
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.service.server.messages import CloseCode
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.settings.tree import SettingSources, load_local_settings
from tests.harness.service import ANSWER_WITHIN_S, Served, closing_of, fetched, opened, received, serving

_NAME = "quokkaby"
_CARD = "four seven two nine um four seven two nine four seven two nine four seven two nine"
_SAID = f"hello this is {_NAME} speaking my card is {_CARD} and my address is vera dot quist at frohmail dot com thanks"
_SECRETS = (_NAME, "four", "seven", "nine", "vera", "quist", "frohmail")
_OPTIONS = {"kept_phrases": [_NAME], "own_fillers": ["vera"], "spellings": {"hi": _NAME}}
_ALL = [kind.value for kind in Redacted]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    settings = ServeSettings(port=0, drain_timeout_s=5, tentative_interval_ms=20)
    with serving(settings, worker=RuntimeSettings(redacted_names=(_NAME,))) as service:
        yield service


@pytest.mark.parametrize("emission", ["sentence", "clause", "settled"])
@pytest.mark.parametrize(("words_an_event", "numbers"), [(1, "digits"), (3, "words"), (40, "digits")])
def test_no_message_of_the_connection_carries_a_redacted_word(
    served: Served, emission: str, numbers: str, words_an_event: int, caplog: pytest.LogCaptureFixture
) -> None:
    said = _SAID.split()
    options = {"emission": emission, "numbers": numbers, **_OPTIONS}
    with (
        caplog.at_level(logging.INFO),
        opened(served, {"redact": _ALL, "tentative": True, "options": options}) as client,
    ):
        told = received(client, "ready")
        for at in range(0, len(said), words_an_event):
            client.send(json.dumps({"words": said[at : at + words_an_event], "speaker": _NAME}))
            told += received(client, "tentative")
        client.send(json.dumps({"words": 7, "speaker": _NAME}))
        client.send(json.dumps({"session_end": True}))
        told += received(client, "ended")

    segments = [one["segment"] for one in told if one["type"] == "segment"]
    assert sum(len(segment["words"]) for segment in segments) == len(said)
    assert "thanks" in segments[-1]["words"][-1]["text"]
    assert any(one["type"] == "error" for one in told)
    _assert_no_secret(json.dumps(told) + caplog.text + fetched(served, "/metrics")[2])


def test_posted_words_are_redacted_by_their_query(served: Served) -> None:
    path = "/v1/sessions/redacted/events?after=0&redact=" + ",".join(_ALL)
    with closing(http.client.HTTPConnection(served.url.split("/")[2], timeout=ANSWER_WITHIN_S)) as connection:
        connection.request("POST", path, json.dumps({"words": _SAID, "session_end": True}))
        answer = connection.getresponse().read().decode()

    assert "thanks" in answer
    _assert_no_secret(answer)


def test_a_client_cannot_undo_what_the_operator_redacts() -> None:
    settings = ServeSettings(port=0, redact=(Redacted.NUMBERS, Redacted.NAMES))
    with serving(settings, worker=RuntimeSettings(redacted_names=(_NAME,))) as service:
        with opened(service, {"redact": ["emails"]}) as client:
            client.send(json.dumps({"words": _SAID, "session_end": True}))
            told = json.dumps(received(client, "ended"))
        with opened(service) as client:
            client.send(json.dumps({"words": f"{_NAME} has vera at frohmail", "session_end": True}))
            (*_, segment, _) = received(client, "ended")
    _assert_no_secret(told)
    assert segment["marked"].startswith("[NAME] has vera")


@pytest.mark.parametrize("redact", [["names"], ["everything"], "names"])
def test_an_opening_that_asks_for_what_there_is_not_is_refused(redact: object) -> None:
    with serving() as service:
        assert closing_of(service, {"redact": redact}) == (CloseCode.BAD_OPENING, "bad_opening")
        with closing(http.client.HTTPConnection(service.url.split("/")[2], timeout=ANSWER_WITHIN_S)) as connection:
            connection.request("POST", "/v1/sessions/a/events?redact=names", "{}")
            answer = connection.getresponse()
            assert (answer.status, b"worker.redacted_names" in answer.read()) == (400, True)
        with opened(service) as client:
            assert received(client, "ready")


def test_names_to_redact_must_be_on_a_list() -> None:
    with pytest.raises(FatalError, match="redacted_names holds none"):
        load_local_settings(SettingSources(environ={"CAESURA_SERVE_REDACT": "names"}))


def _assert_no_secret(published: str) -> None:
    assert [secret for secret in _SECRETS if secret in published.lower()] == []
