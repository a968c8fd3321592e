"""``caesura bridge --audio``: what is spoken arrives whole, whatever becomes of the connection."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("websockets")
from websockets.exceptions import ConnectionClosed

from tests.harness.command import CAESURA, caesura, outside, started
from tests.harness.recogniser import PingCounting, serving

CHUNK = 3200


@contextlib.contextmanager
def bridging(url: str) -> Iterator[subprocess.Popen[str]]:
    """Run it on audio from a standard input that stays open."""
    pipe = subprocess.PIPE
    command = [*CAESURA, "bridge", url, "--from", "vosk", "--dry-run", "--finish", "end", "--audio", "-"]
    with started(*command, environ=outside(), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield process


def spoken_into(process: subprocess.Popen[str], audio: bytes) -> None:
    assert process.stdin is not None
    os.write(process.stdin.fileno(), audio)


def test_no_audio_is_lost_where_a_connection_breaks_off_between_two_chunks() -> None:
    chunks = [bytes([number]) * CHUNK for number in range(1, 5)]
    heard: list[list[str | bytes]] = []

    def hear(connection: PingCounting) -> None:
        heard.append([])
        for message in connection:
            heard[-1].append(message)
            if len(heard) == 1:
                connection.answered.acquire(timeout=2)  # the ping behind it: the client is told that it has arrived
                connection.socket.shutdown(socket.SHUT_RDWR)
                assert process.stdin is not None
                spoken_into(process, b"".join(chunks[1:]))
                process.stdin.close()
                return
            if message == "end":
                connection.send('{"text": "yes"}')
                return

    with serving(hear) as url, bridging(url) as process:
        spoken_into(process, chunks[0])
        status = process.wait(30)
        assert process.stderr is not None
        assert (status, "broke off and is there again" in process.stderr.read()) == (0, True)
    assert heard == [chunks[:1], [*chunks[1:], "end"]]


@pytest.mark.parametrize("ended_by", ["the server", "an interrupt"])
def test_it_ends_in_order_while_standard_input_stays_open(ended_by: str) -> None:
    def hear(connection: PingCounting) -> None:
        connection.recv()
        time.sleep(0.3)  # longer than the chunk was spoken: the next one is waited for
        connection.send('{"text": "yes"}')
        with contextlib.suppress(ConnectionClosed):
            while ended_by == "an interrupt":
                connection.recv()

    with serving(hear) as url, bridging(url) as process:
        spoken_into(process, b"\1" * (CHUNK + 100))
        assert process.stdout is not None
        assert '"yes"' in process.stdout.readline()
        if ended_by == "an interrupt":
            process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None
        told = process.stderr.read()
        assert (told.count("\n"), told.startswith("1 message, ")) == (1, True), told


def test_a_file_arrives_in_whole_chunks_and_the_message_after_it(tmp_path: Path) -> None:
    audio = os.urandom(2 * CHUNK + 500)
    heard: list[str | bytes] = []

    def hear(connection: PingCounting) -> None:
        for message in connection:
            heard.append(message)
            if message == "end":
                connection.send('{"text": "yes"}')
                return

    (tmp_path / "audio.raw").write_bytes(audio)
    with serving(hear) as url:
        options = ("--audio", str(tmp_path / "audio.raw"), "--audio-rate", "0", "--finish", "end")
        done = caesura("bridge", url, "--from", "vosk", "--dry-run", *options)
    assert done.returncode == 0, done.stderr
    assert heard == [audio[:CHUNK], audio[CHUNK : 2 * CHUNK], audio[2 * CHUNK :], "end"]


def test_audio_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with serving(lambda connection: connection.recv()) as url:
        for audio in (tmp_path, tmp_path / "none"):
            done = caesura("bridge", url, "--from", "vosk", "--dry-run", "--audio", str(audio))
            assert (done.returncode, "cannot be read: " in done.stderr) == (1, True), done.stderr
