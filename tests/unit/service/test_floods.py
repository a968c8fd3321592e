"""Floods of a client, and of a stranger: little is taken of them, others are answered, and a stop ends in time.

Each flood lasts a second or so, on loopback, and is over with its test.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from caesura.worker.settings.serving import ServeSettings
from tests.harness.hostile_client import BINARY, CONTINUED, PING, PONG, TEXT, HostileClient, connected, frame, upgrade
from tests.harness.service import Served, fetched, opened, received, serving, texts

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


CONTROL_FLOODS = {
    "pings": frame(PING, b"x" * 125) * 400,
    "empty pings": frame(PING) * 4000,
    "pongs": frame(PONG, b"x" * 125) * 400,
    "parts of a message that never ends": frame(CONTINUED, b"", whole=False) * 4000,
    "parts of a byte": frame(CONTINUED, b" ", whole=False) * 4000,
    "pings within a message": (frame(PING) + frame(CONTINUED, b"", whole=False)) * 2000,
}


@pytest.mark.parametrize("flood", CONTROL_FLOODS)
def test_control_frames_of_a_client_that_does_not_read_are_not_taken_without_end(flood: str) -> None:
    with serving(settings()) as served, connected(served) as client:
        client.socket.sendall(frame(TEXT, b"", whole=False))
        taken = client.flood(CONTROL_FLOODS[flood], for_s=FLOOD_S)
        assert taken < BUFFERED
        assert is_alive(served)
        assert words_come_through(served)
        assert stops_in_time(served)


@pytest.mark.parametrize("flood", ["pings", "empty pings", "pongs"])
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


def test_a_stranger_that_pings_now_and_then_is_not_taken_for_a_client() -> None:
    with serving(settings(opening_timeout_s=1.0)) as served, connected(served, opening=None) as stranger:
        ended = threading.Event()

        def ping() -> None:
            while not ended.wait(0.2):
                try:
                    stranger.socket.sendall(frame(PING))
                except OSError:
                    return

        thread = threading.Thread(target=ping)
        thread.start()
        try:
            assert stranger.ends_within(10)
        finally:
            ended.set()
            thread.join()


def test_a_client_that_pings_and_answers_no_ping_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.server.server._PING_S", 0.2)
    monkeypatch.setattr("caesura.worker.service.server.server._PONG_S", 1.0)
    with serving(settings()) as served, connected(served) as client:
        ended = threading.Event()

        def ping() -> None:
            while not ended.wait(0.1):
                try:
                    client.socket.sendall(frame(PING, b"alive"))
                except OSError:
                    return

        thread = threading.Thread(target=ping)
        thread.start()
        try:
            assert client.ends_within(30)
        finally:
            ended.set()
            thread.join()


MESSAGE_FLOODS = {
    "empty texts": frame(TEXT) * 4000,
    "events without words": frame(TEXT, b"{}") * 4000,
    "ends of utterances": frame(TEXT, b'{"utterance_end":true}') * 1000,
    "many words": frame(TEXT, b'{"words":"' + b"a " * 1900 + b'"}') * 4,
    "too many words": frame(TEXT, b'{"words":"' + b"a " * 400_000 + b'"}'),
    "binary that is none": frame(BINARY, b"\xc1") * 4000,
    "deep": frame(TEXT, b"[" * 400_000 + b"]" * 400_000),
    "large and refused": frame(TEXT, b'{"wrods":"' + b"x" * 900_000 + b'"}'),
    "half a character": frame(TEXT, b'{"words":"\xff"}'),
    "large frames in parts": frame(TEXT, b'{"words":"', whole=False)
    + frame(CONTINUED, b"a " * 30_000, whole=False) * 10
    + frame(CONTINUED, b'"}'),
}


@pytest.mark.parametrize("flood", MESSAGE_FLOODS)
def test_messages_without_end_are_taken_at_their_pace_and_hold_up_nobody(flood: str) -> None:
    with serving(settings()) as served, connected(served) as client:
        client.flood(MESSAGE_FLOODS[flood], for_s=FLOOD_S)
        assert is_alive(served)
        assert words_come_through(served)
        client.flood(MESSAGE_FLOODS[flood], for_s=FLOOD_S / 4)
        assert stops_in_time(served)


def named(recogniser: str) -> bytes:
    return json.dumps({"format": recogniser}).encode()


def many(head: str, item: Callable[[int], str], tail: str) -> bytes:
    return frame(TEXT, (head + ",".join(item(at) for at in range(3000)) + tail).encode())


RECOGNISERS = {
    "deepgram": many(
        '{"is_final":true,"channel":{"alternatives":[{"words":[',
        lambda at: f'{{"word":"a","speaker":{at}}}',
        "]}]}}",
    ),
    "google": many(
        '{"results":[', lambda at: f'{{"alternatives":[{{"transcript":"a"}}],"channelTag":{at + 1},"isFinal":true}}',
        "]}",
    ),
    "soniox": many(
        '{"tokens":[',
        lambda at: f'{{"text":"a","is_final":true,"speaker":{at % 16}}},{{"text":"<end>","is_final":true}}',
        "]}",
    ),
    "vosk": frame(TEXT, b'{"text":"' + b"a " * 450_000 + b'"}'),
    "whisper": frame(TEXT, b'{"segments":[{"start":0,"end":1,"text":"' + b"[" * 900_000 + b'"}]}'),
    "funasr": frame(TEXT, b'{"mode":"2pass-online","text":"' + b"a " * 5000 + b'"}'),
    "openai-realtime": frame(
        TEXT,
        b'{"type":"conversation.item.input_audio_transcription.delta","item_id":"0","delta":"' + b". " * 9000 + b'"}',
    )
    + frame(TEXT, b'{"type":"conversation.item.input_audio_transcription.delta","item_id":"0","delta":". "}') * 500,
}  # fmt: skip


@pytest.mark.parametrize("recogniser", RECOGNISERS)
def test_a_recognisers_messages_without_end_hold_up_nobody(recogniser: str) -> None:
    with serving(settings()) as served, connected(served, named(recogniser)) as client:
        client.flood(RECOGNISERS[recogniser], for_s=FLOOD_S)
        assert is_alive(served)
        assert words_come_through(served)
        assert stops_in_time(served)


def test_many_floods_together_hold_up_nobody() -> None:
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


@pytest.mark.parametrize("said", NO_UPGRADES)
def test_a_socket_that_becomes_no_session_ends_in_time(said: str) -> None:
    with serving(settings(opening_timeout_s=1.0)) as served:
        client = HostileClient(served)
        with client.socket:
            client.socket.sendall(NO_UPGRADES[said])
            assert client.ends_within(10)
        assert served.fault == []


@pytest.mark.parametrize("said", NO_UPGRADES)
def test_a_stop_does_not_wait_for_fifty_that_became_no_session(said: str) -> None:
    with serving(settings(opening_timeout_s=600.0)) as served, ExitStack() as stack:
        for _ in range(50):
            client = HostileClient(served)
            stack.enter_context(client.socket)
            client.socket.sendall(NO_UPGRADES[said])
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
