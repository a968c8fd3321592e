"""Who connects and says nothing keeps nobody out, whatever they hold open, and holds up no stop."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from websockets.sync.client import connect

from caesura.worker.settings.serving import ServeSettings
from tests.harness.parts.certificates import make_certificates
from tests.harness.service import ANSWER_WITHIN_S, Served, close_of, closing_of, fetched, opened, received, serving

HALF_A_REQUEST = b"GET /live HTTP/1.1\r\nHost: loc"
WHOLE_REQUEST = b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"


def reached(served: Served) -> socket.socket:
    """Connect, and say nothing."""
    host, _, port = served.url.split("/")[2].partition(":")
    return socket.create_connection((host, int(port)), timeout=ANSWER_WITHIN_S)


def ends(stranger: socket.socket) -> bool:
    """Read until the other end closes; TimeoutError if it does not."""
    try:
        while stranger.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


def test_readiness_is_answered_however_many_sockets_say_nothing() -> None:
    with serving(ServeSettings(port=0, max_connections=1, opening_timeout_s=600)) as served, ExitStack() as stack:
        for number in range(300):
            stranger = stack.enter_context(reached(served))
            if number % 2:
                stranger.sendall(HALF_A_REQUEST)
        assert [fetched(served, path)[0] for path in ("/ready", "/live")] == [200, 200]
        with opened(served) as client:
            received(client, "ready")


@pytest.mark.parametrize("said", [b"", HALF_A_REQUEST])
def test_a_request_that_does_not_come_whole_in_time_is_not_waited_for(said: bytes) -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=0.1)) as served, reached(served) as stranger:
        stranger.sendall(said)
        assert ends(stranger)


def test_a_tls_handshake_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    certificate, key = str(made.server_certificate), str(made.server_key)
    limits = ServeSettings(port=0, opening_timeout_s=0.1, tls_certificate=certificate, tls_key=key)
    with serving(limits) as served, reached(served) as stranger:
        assert ends(stranger)


def test_a_second_request_that_does_not_come_whole_is_not_waited_for_either() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=1)) as served, reached(served) as stranger:
        stranger.sendall(WHOLE_REQUEST)
        assert stranger.recv(4096).startswith(b"HTTP/1.1 200")
        stranger.sendall(HALF_A_REQUEST)
        assert ends(stranger)


def test_clients_without_an_opening_take_nobodys_place() -> None:
    limits = ServeSettings(port=0, max_connections=1, token="open-sesame", opening_timeout_s=600)
    with serving(limits) as served, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connect(served.words, proxy=None))
        assert closing_of(served, {}) == (4001, "wrong_token")
        with opened(served, {"token": "open-sesame"}) as client:
            received(client, "ready")
            assert closing_of(served, {"token": "open-sesame"}) == (1013, "too_many_connections")


def test_a_stop_waits_for_nobody_who_has_not_sent_an_opening() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=600, drain_timeout_s=600)) as served:
        with connect(served.words, proxy=None) as client:
            served.stop()
            assert close_of(client) == (1012, "draining")
        assert served.done.wait(ANSWER_WITHIN_S)
    assert served.status == [0]
