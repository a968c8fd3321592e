"""Clients that are read slowly, or read slowly themselves: no word of theirs is lost for it."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from caesura.worker.service.server.client_socket import ClientSocket
from caesura.worker.service.server.messages import ServerMessage
from caesura.worker.settings.serving import ServeSettings
from tests.harness.service import ANSWER_WITHIN_S, opened, received, serving, texts

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _frequent_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.server.server._PING_S", 0.2)
    monkeypatch.setattr("caesura.worker.service.server.server._PONG_S", 2.0)


def test_a_client_whose_pong_lies_behind_unread_words_is_kept() -> None:
    words = [f"w{number}" for number in range(1500)]
    settings = ServeSettings(port=0, drain_timeout_s=5, max_words_per_second=100)  # a thousand at once, then slowly
    with serving(settings) as served, opened(served) as client:
        for at in range(0, len(words), 50):
            client.send(json.dumps({"words": words[at : at + 50]}))
        client.send(json.dumps({"session_end": True}))
        told = received(client, "ended")
    assert texts(told) == words


def test_a_client_that_answers_no_ping_is_let_go() -> None:
    with serving() as served:
        address = parse_uri(served.words)
        silent = socket.create_connection((address.host, address.port), ANSWER_WITHIN_S)
        protocol = ClientProtocol(address)
        protocol.send_request(protocol.connect())
        silent.sendall(b"".join(protocol.data_to_send()))
        with silent:  # which raises after a minute, sooner than pings at their usual times let anybody go
            while silent.recv(4096):
                pass


def test_a_slow_client_that_is_closed_gets_every_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    send = ClientSocket._send

    async def slowly(client: ClientSocket, message: ServerMessage) -> None:
        await asyncio.sleep(0.05)
        await send(client, message)

    monkeypatch.setattr(ClientSocket, "_send", slowly)
    words = [f"w{number}" for number in range(40)]
    settings = ServeSettings(port=0, drain_timeout_s=5, send_timeout_s=1, max_refused_messages=0)
    with serving(settings) as served, opened(served) as client:
        for word in words:
            client.send(json.dumps({"words": word, "utterance_end": True}))
        client.send("no message")
        told = received(client, "closing")
    assert told[-1]["reason"] == "too_many_refused"
    assert texts(told) == words
