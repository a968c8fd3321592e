"""Bodies of POST that drip, come in chunks, or are too long: refused with a reason, and the socket ends in time."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest

from caesura.worker.settings.serving import ServeSettings
from tests.harness.service import ANSWER_WITHIN_S, Served, fetched, serving, texts

WITHIN_S = 1.0
MOST_BYTES = 2_000
WORDS = b'{"words": "so be it", "session_end": true}'
CHUNKED, CLOSED = b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n"


def served_in_time() -> ServeSettings:
    return ServeSettings(port=0, opening_timeout_s=WITHIN_S, max_message_bytes=MOST_BYTES, drain_timeout_s=1.0)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving(served_in_time()) as service:
        yield service
        assert service.fault == []


def head(more: bytes, path: bytes = b"/v1/sessions/call/events?after=0") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more + b"\r\n"


def length(size: int) -> bytes:
    return b"Content-Length: %d\r\n" % size


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def connected(served: Served) -> socket.socket:
    address = urlsplit(served.url)
    return socket.create_connection((address.hostname, address.port), timeout=ANSWER_WITHIN_S)


def ended(client: socket.socket) -> bytes:
    """Return all that comes until the service ends the socket. TimeoutError."""
    came = b""
    with suppress(ConnectionError):
        while data := client.recv(65_536):
            came += data
    return came


def answered(client: socket.socket) -> tuple[int, dict[str, object]]:
    answer = HTTPResponse(client)
    answer.begin()
    return answer.status, json.loads(answer.read())


def has_session(served: Served) -> bool:
    return fetched(served, "/v1/sessions/call/segments")[0] != 404


@pytest.mark.parametrize(
    ("more", "piece"),
    [
        pytest.param(length(100_000), b" ", id="a length"),
        pytest.param(length(1_000), b" ", id="a length within the limit"),
        pytest.param(CHUNKED, chunk(b" "), id="chunks"),
        pytest.param(CHUNKED, b"0", id="the size of a chunk"),
        pytest.param(CHUNKED, b"1;a=b", id="the extension of a chunk"),
    ],
)
def test_a_body_that_drips_ends_in_time_and_opens_no_session(served: Served, more: bytes, piece: bytes) -> None:
    with closing(connected(served)) as client:
        client.sendall(head(more))
        began_s = time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() - began_s < 30:
                client.sendall(piece)
                time.sleep(0.02)
        assert time.monotonic() - began_s < 10
        assert not has_session(served)


def test_a_body_that_stops_ends_in_time_and_opens_no_session(served: Served) -> None:
    stopped = [head(length(50)), head(length(50)) + WORDS[:20], head(CHUNKED), head(CHUNKED) + b"a\r\n"]
    with ExitStack() as stack:
        clients = [stack.enter_context(closing(connected(served))) for _ in stopped]
        for client, said in zip(clients, stopped, strict=True):
            client.sendall(said)
        for client in clients:
            ended(client)
        assert not has_session(served)


@pytest.mark.parametrize("size", [1, 7, len(WORDS)])
def test_words_in_chunks_are_taken_once(served: Served, size: int) -> None:
    with closing(connected(served)) as client:
        client.sendall(head(CHUNKED + CLOSED, b"/v1/sessions/chunks-%d/events?after=0" % size))
        for at in range(0, len(WORDS), size):
            client.sendall(chunk(WORDS[at : at + size]))
        client.sendall(chunk(b""))
        status, answer = answered(client)
    assert (status, answer["taken"], answer["ended"]) == (200, 1, True)
    assert texts(answer["segments"]) == ["so", "be", "it"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(head(length(MOST_BYTES + 1)) + b" " * (MOST_BYTES + 1), id="one byte more"),
        pytest.param(head(length(10**12)) + b" " * 3 * MOST_BYTES, id="a length that never comes"),
        pytest.param(head(CHUNKED) + chunk(b" " * MOST_BYTES) + chunk(b" "), id="chunks without end"),
        pytest.param(head(CHUNKED) + chunk(b" ") * 3 * MOST_BYTES, id="small chunks"),
        pytest.param(head(CHUNKED) + b"%x\r\n" % 10**12 + b" " * 3 * MOST_BYTES, id="one chunk"),
    ],
)
def test_a_body_over_the_limit_is_refused_with_a_reason_before_its_end(served: Served, said: bytes) -> None:
    with closing(connected(served)) as client:
        client.sendall(said)
        status, answer = answered(client)
        assert status == 413
        told = {"reason": "oversized", "detail": f"the body: expected at most {MOST_BYTES} bytes"}
        assert answer["errors"] == [{"type": "error", "message": 0, **told}]
        ended(client)
        assert not has_session(served)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(head(CHUNKED) + b"xyz\r\n", id="no size"),
        pytest.param(head(CHUNKED) + b"-1\r\n", id="a size below zero"),
        pytest.param(head(CHUNKED) + b"5\r\nabcdefgh\r\n", id="more than its size"),
        pytest.param(head(length(5) + length(6)) + b"abcdef", id="two lengths"),
        pytest.param(head(b"Content-Length: -5\r\n"), id="a length below zero"),
        pytest.param(head(b"Content-Length: \xc2\xb2\r\n"), id="a length that is no number"),
        pytest.param(head(b"Content-Length: " + b"9" * 5_000 + b"\r\n"), id="a length of 5,000 digits"),
        pytest.param(head(b"Transfer-Encoding: gzip\r\n"), id="another encoding"),
    ],
)
def test_a_body_without_sense_is_refused_and_the_socket_ends(served: Served, said: bytes) -> None:
    with closing(connected(served)) as client:
        client.sendall(said)
        told = ended(client)
        assert told.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501", b"HTTP/1.1 413"))
        assert not has_session(served)


def test_a_length_and_chunks_together_smuggle_no_second_request(served: Served) -> None:
    second = head(length(len(WORDS)), b"/v1/sessions/other/events") + WORDS
    with closing(connected(served)) as client:
        client.sendall(head(length(5 + len(second)) + CHUNKED) + chunk(b"") + second)
        ended(client)
        assert fetched(served, "/v1/sessions/other/segments")[0] == 404


def test_a_body_cut_off_by_a_reset_gives_no_word(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(served_in_time()) as served:
        for size in range(1, len(WORDS), 5):
            with closing(connected(served)) as client:
                client.sendall(head(length(len(WORDS))) + WORDS[:size])
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        assert not has_session(served)
        assert served.fault == []
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("path", [b"/live", b"/v1/nowhere", b"/v1/sessions/call/events"])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_body_without_sense_behind_an_answer_writes_no_line_of_log(
    path: bytes, at_once: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(served_in_time()) as served:
        for method in (b"POST ", b"GET "):
            asked = head(CHUNKED, path).replace(b"POST ", method)
            with closing(connected(served)) as client:
                client.sendall(asked + b"xyz\r\n" if at_once else asked)
                if not at_once:
                    if path != b"/v1/sessions/call/events":
                        client.recv(1)
                    with suppress(ConnectionError):
                        client.sendall(b"1;" + b"x" * 100_000)
                ended(client)
        assert fetched(served, "/live")[0] == 200
    assert "fault" not in capfd.readouterr().err


def test_a_stop_does_not_wait_for_bodies_that_drip() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=600.0, drain_timeout_s=1.0)) as served:
        clients = [connected(served) for _ in range(20)]
        for client in clients:
            client.sendall(head(CHUNKED) + chunk(b" "))
        began_s = time.monotonic()
        served.stop()
        assert served.done.wait(60)
        assert served.status == [0]
        assert time.monotonic() - began_s <= 2
        for client in clients:
            client.close()
