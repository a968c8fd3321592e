"""Sockets that say nothing, or a byte now and then, take neither a thread nor anybody's place."""

from __future__ import annotations

import resource
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection

import pytest

from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.http_server import TelemetryServer
from caesura.worker.telemetry.metrics import Metrics

HALF = b"GET /live HTTP/1.1\r\nX: "


@pytest.fixture
def server() -> Iterator[TelemetryServer]:
    served = TelemetryServer("127.0.0.1", 0, registry=Metrics().registry, health=Health(lambda: 0.0))
    served.start()
    yield served
    served.close()


def reached(server: TelemetryServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def status_of(server: TelemetryServer, path: str, method: str = "GET") -> int:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("said", [b"", HALF, b"GET /metrics HTTP/1.1\r\n\r\n" * 50])
def test_five_hundred_sockets_take_no_thread_and_an_honest_probe_is_answered(
    said: bytes, server: TelemetryServer
) -> None:
    threads = threading.active_count()
    with ExitStack() as stack:
        for _ in range(min(500, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)):
            stranger = stack.enter_context(reached(server))
            stranger.sendall(said)
        assert threading.active_count() == threads
        assert status_of(server, "/live") == 200


def test_a_request_that_drips_is_cut_off(server: TelemetryServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server._socket.doorway, "_within_s", 0.3)
    with reached(server) as stranger:
        stranger.sendall(HALF)
        ended = threading.Event()

        def drip() -> None:
            while not ended.wait(0.05):
                try:
                    stranger.sendall(b"a")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            assert _is_over(stranger)
        finally:
            ended.set()
            thread.join()


def _is_over(stranger: socket.socket) -> bool:
    try:
        return stranger.recv(4096) == b""
    except ConnectionError:
        return True


def test_requests_that_are_none_and_resets_write_no_traceback(
    server: TelemetryServer, capfd: pytest.CaptureFixture[str]
) -> None:
    for said in (b"\x00" * 100, b"GET / HTTP/9\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"):
        with reached(server) as stranger:
            stranger.sendall(said)
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert status_of(server, "/live") == 200
    assert "Traceback" not in capfd.readouterr().err


def test_nothing_can_be_sent_to_it(server: TelemetryServer) -> None:
    assert status_of(server, "/metrics", "POST") == 405
    assert status_of(server, "/metrics", "HEAD") == 200
