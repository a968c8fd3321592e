"""Floods of a client, and of a stranger: little is taken of them, others are answered, and a stop ends in time.

Each flood lasts a second or so, on loopback, and is over with its test.
"""

from __future__ import annotations

import json
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.settings.serving import ServeSettings
from tests.harness.floods import CONTROL_FLOODS, MESSAGE_FLOODS, RECOGNISERS, REQUEST_FLOODS, named
from tests.harness.hostile_client import BINARY, CONTINUED, PING, TEXT, HostileClient, connected, frame, upgrade
from tests.harness.parts.certificates import Certificates
from tests.harness.service import (
    ANSWER_WITHIN_S,
    Served,
    close_of,
    closing_of,
    fetched,
    opened,
    received,
    serving,
    texts,
)

pytestmark = pytest.mark.slow

FLOOD_S = 1.0
DRAIN_S = 15.0
BUFFERED = 1_500_000
"""More than the kernel's buffers of a loopback connection hold here, and less than a second's flood."""


def settings(**given: object) -> ServeSettings:
    return ServeSettings(**{"port": 0, "drain_timeout_s": DRAIN_S, **given})  # type: ignore[arg-type]


def is_alive(served: Served) -> bool:
    return fetched(served, "/live")[0] == 200


def words_come_through(served: Served) -> bool:
    with opened(served) as client:
        client.send(json.dumps({"words": "so be it", "session_end": True}))
        return texts(received(client, "ended")) == ["so", "be", "it"]


def stops_in_time(served: Served) -> bool:
    began_s = time.monotonic()
    served.stop()
    return served.done.wait(60) and served.status == [0] and time.monotonic() - began_s <= DRAIN_S + 1


@pytest.mark.parametrize("flood", CONTROL_FLOODS)
def test_control_frames_of_a_client_that_does_not_read_are_limited(flood: str) -> None:
    with serving(settings()) as served, connected(served) as client:
        client.socket.sendall(frame(TEXT, b"", whole=False))
        taken = client.flood(CONTROL_FLOODS[flood], for_s=FLOOD_S)
        assert taken < BUFFERED
        assert is_alive(served)
        assert words_come_through(served)
        assert stops_in_time(served)


@pytest.mark.parametrize("flood", ["pings", "pongs"])
def test_control_frames_of_a_stranger_end_its_connection(flood: str) -> None:
    with serving(settings()) as served, connected(served, opening=None) as stranger:
        assert stranger.flood(CONTROL_FLOODS[flood], for_s=FLOOD_S) < BUFFERED
        assert stranger.ends_within(DRAIN_S)
        assert is_alive(served)
        assert stops_in_time(served)


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
def test_an_opening_that_goes_on_and_on_ends_its_connection(opcode: int) -> None:
    with serving(settings()) as served, connected(served, opening=None) as stranger:
        stranger.flood(frame(opcode, b'{"token": "' + b"x" * 900_000), for_s=FLOOD_S)
        assert stranger.ends_within(DRAIN_S)
        assert stops_in_time(served)


@contextmanager
def _pinging(client: HostileClient, ping: bytes, *, every_s: float) -> Iterator[None]:
    """Have a client ping all the while, until its socket ends."""
    ended = threading.Event()

    def send() -> None:
        while not ended.wait(every_s):
            try:
                client.socket.sendall(ping)
            except OSError:
                return

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_stranger_that_pings_now_and_then_is_not_taken_for_a_client() -> None:
    with (
        serving(settings(opening_timeout_s=1.0)) as served,
        connected(served, opening=None) as stranger,
        _pinging(stranger, frame(PING), every_s=0.2),
    ):
        assert stranger.ends_within(10)


def test_a_client_that_pings_and_answers_no_ping_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.server.server._PING_S", 0.2)
    monkeypatch.setattr("caesura.worker.service.server.server._PONG_S", 1.0)
    with (
        serving(settings()) as served,
        connected(served) as client,
        _pinging(client, frame(PING, b"alive"), every_s=0.1),
    ):
        assert client.ends_within(30)


@pytest.mark.parametrize("flood", MESSAGE_FLOODS)
def test_endless_messages_are_paced_and_delay_no_other_client(flood: str) -> None:
    with serving(settings()) as served, connected(served) as client:
        client.flood(MESSAGE_FLOODS[flood], for_s=FLOOD_S / 3)
        assert is_alive(served)
        assert words_come_through(served)
        client.flood(MESSAGE_FLOODS[flood], for_s=FLOOD_S / 4)
        assert stops_in_time(served)


@pytest.mark.parametrize("recogniser", RECOGNISERS)
def test_endless_recogniser_messages_delay_no_other_client(recogniser: str) -> None:
    with serving(settings()) as served, connected(served, named(recogniser)) as client:
        client.flood(RECOGNISERS[recogniser], for_s=FLOOD_S / 3)
        assert is_alive(served)
        assert words_come_through(served)
        assert stops_in_time(served)


@pytest.mark.parametrize("flood", REQUEST_FLOODS)
def test_endless_requests_delay_no_other_client(flood: str) -> None:
    with serving(settings()) as served:
        stranger = HostileClient(served)
        with stranger.socket:
            stranger.flood(REQUEST_FLOODS[flood], for_s=FLOOD_S / 4)
            assert is_alive(served)
            assert words_come_through(served)
            assert stops_in_time(served)


def with_bits(sent: bytes, bits: int) -> bytes:
    return bytes([sent[0] | bits]) + sent[1:]


ODD_FRAMES = {
    "compressed": with_bits(frame(TEXT, zlib.compress(b"a " * 1_000_000)[2:-4]), 0x40),
    "another extension's": with_bits(frame(TEXT, b"{}"), 0x20),
    "unmasked": b"\x81\x02{}",
    "of no kind": frame(3, b"x"),
    "a long ping": frame(PING, b"x" * 126),
    "a ping in parts": frame(PING, b"x", whole=False),
    "a part of nothing": frame(CONTINUED, b"x"),
    "a text within a text": frame(TEXT, b"{", whole=False) + frame(TEXT, b"{}"),
    "longer than there is memory": b"\x81\xff" + b"\x7f" + b"\xff" * 7 + bytes(4),
    "longer than may be": b"\x81\xff" + (10_000_000).to_bytes(8, "big") + bytes(4),
    "a goodbye of a byte": frame(8, b"x"),
    "words behind a goodbye": frame(8, b"\x03\xe8") + frame(TEXT, b'{"words":"a"}') * 1000,
}


def test_an_odd_frame_ends_its_connection_and_no_other(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(settings()) as served, ExitStack() as stack:
        for odd in ODD_FRAMES.values():
            for opening, is_half_closed in product((None, b"{}"), (False, True)):
                client = stack.enter_context(connected(served, opening))
                client.socket.sendall(odd)
                if is_half_closed:
                    client.socket.shutdown(socket.SHUT_WR)
                assert client.ends_within(10)
        assert words_come_through(served)
    assert "fault" not in capfd.readouterr().err


def test_many_floods_together_delay_no_other_client() -> None:
    floods = [*(named(name) for name in RECOGNISERS), b"{}", b"{}"]
    sent = [*RECOGNISERS.values(), CONTROL_FLOODS["pings"], MESSAGE_FLOODS["events without words"]]
    with serving(settings()) as served, ExitStack() as stack:
        clients = [stack.enter_context(connected(served, opening)) for opening in floods]
        with flooding(list(zip(clients, sent, strict=True))):
            assert is_alive(served)
            assert words_come_through(served)
            served.stop()
            assert served.done.wait(60)
    assert served.status == [0]


@contextmanager
def flooding(floods: list[tuple[HostileClient, bytes]]) -> Iterator[None]:
    """Flood from all clients until the end of the block, ten seconds at most."""
    threads = [threading.Thread(target=client.flood, args=(data,), kwargs={"for_s": 10.0}) for client, data in floods]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for client, _ in floods:
            client.socket.close()
        for thread in threads:
            thread.join()


NO_UPGRADES = {
    "nothing": b"",
    "half a line": b"GET /v1/wor",
    "POST": upgrade(method=b"POST"),
    "POST with a body": upgrade(method=b"POST", more=b"Content-Length: 3\r\n") + b"abc",
    "GET with a body": upgrade(more=b"Content-Length: 3\r\n"),
    "GET in chunks": upgrade(more=b"Transfer-Encoding: chunked\r\n"),
    "a long line": upgrade("/v1/words?" + "x" * 9000),
    "many headers": upgrade(more=b"".join(b"X%d: a\r\n" % number for number in range(300))),
    "a path that is no text": upgrade("/v1/words%ff"),
    "another version": upgrade().replace(b"Version: 13", b"Version: 7"),
    "no key": upgrade().replace(b"Sec-WebSocket-Key", b"X-Key"),
    "another path": upgrade("/v1/nowhere"),
    "an upgrade and no more": upgrade(),
    "an upgrade and half a frame": upgrade() + frame(TEXT, b"{}")[:-1],
    "an upgrade and a ping": upgrade() + frame(PING, b"x"),
    "an upgrade that is closed": upgrade() + frame(8, b"\x03\xe8"),
}


def no_sessions(served: Served, stack: ExitStack) -> dict[str, HostileClient]:
    """Return a client of each kind that sends no whole upgrade, and what it sends sent."""
    clients = {}
    for kind, said in NO_UPGRADES.items():
        clients[kind] = HostileClient(served)
        stack.enter_context(clients[kind].socket)
        clients[kind].socket.sendall(said)
    return clients


def test_sockets_that_become_no_session_end_in_time() -> None:
    with serving(settings(opening_timeout_s=1.0)) as served, ExitStack() as stack:
        for kind, client in no_sessions(served, stack).items():
            assert client.ends_within(10), kind
        assert served.fault == []


def test_a_stop_does_not_wait_for_many_that_became_no_session() -> None:
    with serving(settings(opening_timeout_s=600.0)) as served, ExitStack() as stack:
        for _ in range(10):
            no_sessions(served, stack)
        assert is_alive(served)
        assert stops_in_time(served)


def test_no_client_makes_the_service_write_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    hostile = [frame(TEXT, b"\xff"), frame(CONTINUED, b"x"), b"\x00" * 100, frame(PING, b"x" * 125)[:20], b"\xff" * 50]
    with serving(settings(opening_timeout_s=1.0)) as served:
        for opening in (None, b"{}"):
            for data in hostile:
                with connected(served, opening) as client:
                    client.socket.sendall(data)
                    client.socket.setsockopt(
                        1, 13, b"\x01\x00\x00\x00\x00\x00\x00\x00"
                    )  # SO_LINGER: it ends by a reset
        assert is_alive(served)
        assert stops_in_time(served)
    assert "Traceback" not in capfd.readouterr().err


ONE_IN_ALL = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, max_open_sessions=1)


def spoken(*speakers: int) -> str:
    """Return a message of Deepgram's, a word of each speaker in it."""
    words = [{"word": f"w{speaker}", "start": 0.1, "end": 0.2, "speaker": speaker} for speaker in speakers]
    channel = {"alternatives": [{"transcript": "x", "words": words}]}
    return json.dumps({"is_final": True, "start": 0, "duration": 1, "channel": channel})


def say(client: ClientConnection, **event: object) -> None:
    client.send(json.dumps(event))


def segments(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one["segment"] for one in messages if one["type"] == "segment"]


def test_the_sessions_that_one_message_opens_are_counted_too() -> None:
    with serving(ServeSettings(port=0, max_sessions_per_connection=2)) as served:
        with opened(served, {"format": "deepgram"}) as client:
            client.send(spoken(*range(50)))
            client.send(json.dumps({"session_end": True}))
            told = [*received(client, "ended"), *received(client, "ended")]
        refused = [(one["message"], one["reason"]) for one in told if one["type"] == "error"]
        assert refused == [(1, "too_many_sessions")], "the end is not refused for sessions that were never open"
        assert {one["session"] for one in segments(told)} == {"1/0", "1/1"}


def test_speakers_whose_sessions_are_open_are_heard_though_another_is_refused() -> None:
    with (
        serving(ServeSettings(port=0, max_sessions_per_connection=2)) as served,
        opened(served, {"format": "deepgram"}) as client,
    ):
        for speakers in ((0, 1), (0, 2, 1)):
            client.send(spoken(*speakers))
        client.send(json.dumps({"session_end": True}))
        told = [*received(client, "ended"), *received(client, "ended")]
    assert texts(told) == ["w0", "w0", "w1", "w1"]
    assert not any("gaps" in one for one in segments(told))


def test_refusals_of_the_decoding_count_like_any_other() -> None:
    with (
        serving(ServeSettings(port=0, max_refused_messages=2), rules=ONE_IN_ALL) as served,
        opened(served) as first,
        opened(served) as second,
    ):
        say(first, words="one two three-stop four five six seven eight nine ten")
        received(first, "segment")
        for _ in range(3):
            say(second, words="mine")
        told = received(second, "closing")
    assert [one["reason"] for one in told[1:]] == ["too_many_sessions"] * 3 + ["too_many_refused"]


@pytest.mark.parametrize(
    ("limits", "rules"),
    [
        pytest.param(ServeSettings(port=0, max_sessions_per_connection=1), None, id="by its connection"),
        pytest.param(None, ONE_IN_ALL, id="by the decoding"),
    ],
)
def test_a_refused_session_begins_whole_once_there_is_room(
    limits: ServeSettings | None, rules: DecodingRules | None
) -> None:
    with serving(limits, rules=rules) as served, opened(served, {"options": {"punctuation": False}}) as client:
        say(client, session="a", words="one")
        say(client, session="b", words="lost")
        assert received(client, "error")[-1]["reason"] == "too_many_sessions"
        say(client, session="a", session_end=True)
        received(client, "ended")
        say(client, session="b", words="two", session_end=True)
        told = received(client, "ended")
    assert texts(told) == ["two"]
    (segment,) = segments(told)
    assert segment["punctuated"] is False
    assert "gaps" not in segment


def test_partial_words_are_bounded_across_channels() -> None:
    def heard(channel: int, *, final: bool) -> str:
        text = "hi" if final else "hello " * 2000
        result = {"is_final": final, "channel_index": [channel, 999], "start": 0, "duration": 1}
        return json.dumps({**result, "channel": {"alternatives": [{"transcript": text}]}})

    with serving() as served, opened(served, {"format": "deepgram"}) as client:
        for channel in range(12):
            client.send(heard(channel, final=False))
        (*_, refusal) = received(client, "error")
        client.send(heard(0, final=True))
        client.send(json.dumps({"session_end": True}))
        told = received(client, "ended")
    assert refusal["reason"] == "malformed"
    assert "oversized: words: expected at most 100000 characters that are not final" in refusal["detail"]
    assert texts(told) == ["hi"]


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


def test_a_tls_handshake_that_does_not_come_is_not_waited_for(certificates: Certificates) -> None:
    certificate, key = str(certificates.server_certificate), str(certificates.server_key)
    limits = ServeSettings(port=0, opening_timeout_s=0.1, tls_certificate=certificate, tls_key=key)
    with serving(limits) as served, reached(served) as stranger:
        assert ends(stranger)


def test_a_second_request_that_does_not_come_whole_is_not_waited_for_either() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=1)) as served, reached(served) as stranger:
        stranger.sendall(WHOLE_REQUEST)
        assert stranger.recv(4096).startswith(b"HTTP/1.1 200")
        stranger.sendall(HALF_A_REQUEST)
        assert ends(stranger)


def test_clients_without_an_opening_take_no_place() -> None:
    limits = ServeSettings(port=0, max_connections=1, token="open-sesame", opening_timeout_s=600)
    with serving(limits) as served, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connect(served.words, proxy=None))
        assert closing_of(served, {}) == (4001, "wrong_token")
        with opened(served, {"token": "open-sesame"}) as client:
            received(client, "ready")
            assert closing_of(served, {"token": "open-sesame"}) == (1013, "too_many_connections")


def test_a_stop_does_not_wait_for_clients_without_an_opening() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=600, drain_timeout_s=600)) as served:
        with connect(served.words, proxy=None) as client:
            served.stop()
            assert close_of(client) == (1012, "draining")
        assert served.done.wait(ANSWER_WITHIN_S)
    assert served.status == [0]
