"""Audio over several connections: what is not known to have arrived is sent again, and whoever sends can be stopped."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.http11 import Request
from websockets.server import ServerProtocol

from caesura.worker.adapters.websocket import recogniser_client
from caesura.worker.adapters.websocket.audio_sender import Audio
from caesura.worker.adapters.websocket.recogniser_client import RecogniserClient, Reconnected
from caesura.worker.errors import FatalError, RetriableError
from tests.harness.recogniser import PingCounting, serving
from tests.harness.waiting import comes

pytest.importorskip("websockets")


@contextmanager
def piped() -> Iterator[tuple[int, int]]:
    """A pipe of which this test closes the end that is written to."""
    readable, writable = os.pipe()
    try:
        yield readable, writable
    finally:
        os.close(readable)


def greeted(listener: socket.socket) -> tuple[socket.socket, ServerProtocol]:
    """Accept one connection, and answer nothing but its opening handshake."""
    accepted, _ = listener.accept()
    protocol = ServerProtocol()
    while not (events := protocol.events_received()):
        protocol.receive_data(accepted.recv(4096))
    assert isinstance(events[0], Request)
    protocol.send_response(protocol.accept(events[0]))
    accepted.sendall(b"".join(protocol.data_to_send()))
    return accepted, protocol


@contextmanager
def acting(act: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run what a server does beside the test; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=act, args=(listener,))
        thread.start()
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_chunks_that_no_server_said_to_have_are_sent_again_in_their_order() -> None:
    audio = os.urandom(1000)
    heard: list[str | bytes] = []
    told: list[str | Reconnected] = []

    def hear(connection: PingCounting) -> None:
        for message in connection:
            heard.append(message)
            if message == "end":
                return

    with socket.create_server(("127.0.0.1", 0)) as listener, piped() as (readable, writable):
        os.write(writable, audio)
        os.close(writable)
        url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
        client = RecogniserClient(url=url, audio=Audio(source=readable, chunk_bytes=100, finish="end"))
        sending = threading.Thread(target=lambda: told.extend(client.messages()))
        sending.start()
        accepted, _ = greeted(listener)
        taken = 0
        while taken < len(audio):
            taken += len(accepted.recv(4096))
        accepted.close()
        with serving(hear, listener=listener):
            sending.join(30)
    assert told == [Reconnected()]
    assert heard == [*(audio[at : at + 100] for at in range(0, 1000, 100)), "end"]


def test_a_server_that_breaks_off_after_the_audio_is_not_sent_it_again() -> None:
    def act(listener: socket.socket) -> None:
        accepted, _ = greeted(listener)
        time.sleep(1.5)
        accepted.close()

    with acting(act) as url, piped() as (readable, writable):
        os.write(writable, b"1" * 1000)
        os.close(writable)
        audio = Audio(source=readable, chunk_bytes=100, finish="end", answered_within_s=0.2)
        assert list(RecogniserClient(url=url, audio=audio, reconnect_for_s=0.5).messages()) == []


def test_audio_that_comes_in_crumbs_is_sent_in_whole_chunks() -> None:
    heard: list[str | bytes] = []

    def hear(connection: PingCounting) -> None:
        for message in connection:
            heard.append(message)
            if message == "end":
                return

    with serving(hear) as url, piped() as (readable, writable):

        def crumble() -> None:
            for number in range(10):
                os.write(writable, bytes([number]))
                time.sleep(0.01)
            os.close(writable)

        speaking = threading.Thread(target=crumble)
        speaking.start()
        client = RecogniserClient(url=url, audio=Audio(source=readable, chunk_bytes=4, finish="end"))
        assert list(client.messages()) == []
        speaking.join()
    assert heard == [bytes([0, 1, 2, 3]), bytes([4, 5, 6, 7]), bytes([8, 9]), "end"]


def test_waiting_for_a_full_server_can_be_stopped() -> None:
    stopped = threading.Event()

    def act(listener: socket.socket) -> None:
        accepted, protocol = greeted(listener)
        protocol.send_text(b"so")
        accepted.sendall(b"".join(protocol.data_to_send()))
        assert stopped.wait(30)
        accepted.close()

    threads = set(threading.enumerate())
    with acting(act) as url, Path("/dev/zero").open("rb", buffering=0) as endless:
        client = RecogniserClient(url=url, audio=Audio(source=endless.fileno(), chunk_bytes=65_536))
        messages = client.messages()
        assert next(messages) == "so"
        time.sleep(0.5)  # by now all buffers are full
        began_s = time.monotonic()
        messages.close()
        assert time.monotonic() - began_s < 5
        stopped.set()
    assert comes(lambda: not set(threading.enumerate()) - threads, within_s=20)


def test_audio_that_can_no_longer_be_read_ends_it_and_is_said(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with serving(list) as url:
            client = RecogniserClient(url=url, audio=Audio(source=folder))
            with pytest.raises(FatalError, match="the audio cannot be read: Is a directory"):
                list(client.messages())
    finally:
        os.close(folder)


pytest.importorskip("websockets")


def test_a_server_that_closes_every_connection_is_given_up() -> None:
    with serving(lambda connection: connection.close(1008, "no more money")) as url:
        messages = RecogniserClient(url=url, reconnect_for_s=1.0).messages()
        with pytest.raises(RetriableError, match=r"could not be reached for 1 s: .* \(close code 1008\)") as told:
            list(itertools.islice(messages, 20))  # it was sought for ever
    assert "money" not in str(told.value)


@pytest.mark.parametrize("speaks", [True, False])
def test_a_server_that_speaks_or_stays_before_it_breaks_off_is_sought_anew(
    speaks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recogniser_client, "_LONGEST_WAIT_S", 0.2)
    monkeypatch.setattr(recogniser_client, "_FIRST_WAIT_S", 0.2)
    connections: list[PingCounting] = []

    def speak(connection: PingCounting) -> None:
        connections.append(connection)
        if speaks:
            connection.send("so")
        else:
            time.sleep(0.4)
        connection.close(1000 if len(connections) == 6 else 1011)

    with serving(speak) as url:
        told = list(RecogniserClient(url=url, reconnect_for_s=0.6).messages())
    assert [one for one in told if one != "so"] == [Reconnected()] * 5
    assert [one for one in told if one == "so"] == ["so"] * (6 if speaks else 0)
