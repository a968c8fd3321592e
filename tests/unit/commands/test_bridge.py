"""A recogniser's live messages through the command: from standard input, and from a WebSocket that breaks off."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection

from caesura.schemas.codec import decode_event
from caesura.schemas.events import WordsEvent
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.adapters.websocket.recogniser_client import is_address
from caesura.worker.cli import app
from caesura.worker.commands.bridge import _Feed
from caesura.worker.commands.held_stops import HeldStops
from caesura.worker.embedded.mock_cluster import mock_cluster
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName
from caesura.worker.feeds.session_events import SessionEvents
from tests.harness.command import CAESURA, outside, started
from tests.harness.recogniser import PingCounting, serving
from tests.harness.terminal import Terminal

pytest.importorskip("websockets")


def spoken(out: str) -> list[tuple[int, int, list[str]]]:
    events = [json.loads(line) for line in out.splitlines()]
    return [
        (event["epoch"] - events[0]["epoch"], event["seq"], [word["text"] for word in event.get("words", [])])
        for event in events
    ]


def test_messages_on_standard_input_go_out_as_they_come() -> None:
    pipe = subprocess.PIPE
    command = [*CAESURA, "bridge", "--from", "vosk", "--dry-run"]
    with started(*command, environ=outside(), stdin=pipe, stdout=pipe, stderr=pipe) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write('{"text": "so um"}\n')
        running.stdin.flush()
        first = running.stdout.readline()
        assert spoken(first)[0][2] == ["so", "um"], "before the input ends"
        running.stdin.write('{"text": "yes"}\n')
        running.stdin.close()
        rest = running.stdout.read()
        told = running.stderr.read()
    assert spoken(first + rest) == [(0, 0, ["so", "um"]), (0, 1, ["yes"]), (0, 2, [])]
    assert json.loads(rest.splitlines()[-1])["session_end"]
    assert told == "2 messages, 3 words, 1 session\n"


def test_a_message_that_cannot_be_read_is_told_and_the_others_are_sent(terminal: Terminal) -> None:
    given = '{"text": "so"}\n{"text": 3}\nsecret\n{"result": "secret\n{"text": "yes"}\n'
    done = terminal.run("bridge", "--from", "vosk", "--dry-run", "--no-end", given=given)
    assert done.status == 1, "it is told at the end as well"
    assert [words for _, _, words in spoken(done.out)] == [["so"], ["yes"]]
    assert "text: expected text" in done.err
    assert "3 messages passed over" in done.err
    assert "secret" not in done.err


def test_bytes_that_are_not_utf_8_are_told_and_the_lines_after_them_are_sent(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "said.jsonl").write_bytes(b'{"text": "so"}\n\xc1\xff\n{"text": "caf\xe9"}\n{"text": "yes"}\n')
    done = terminal.run("bridge", str(tmp_path / "said.jsonl"), "--from", "vosk", "--dry-run", "--no-end")
    assert [words for _, _, words in spoken(done.out)] == [["so"], ["yes"]]
    assert done.status == 1
    assert "after 1 message one was passed over: line 2: expected UTF-8" in done.err
    assert "2 messages passed over" in done.err


def test_messages_with_odd_numbers_are_told_and_the_others_are_sent(terminal: Terminal) -> None:
    odd = ['{"text": "so", "x": ' + "9" * 5000 + "}", '{"a":' * 100_000, '{"partial": "' + "um " * 2001 + '"}']
    given = "\n".join(['{"text": "so"}', *odd, '{"text": "yes"}\n'])
    done = terminal.run("bridge", "--from", "vosk", "--dry-run", "--no-end", given=given)
    assert [words for _, _, words in spoken(done.out)] == [["so"], ["yes"]]
    assert done.status == 1
    assert "3 messages passed over" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("option", "told"),
    [(("--lang", "not a tag"), "out_of_range: lang"), (("--session", "x" * 129), "oversized: session")],
)
def test_an_impossible_session_is_refused_before_a_message_is_read(
    terminal: Terminal, option: tuple[str, str], told: str
) -> None:
    done = terminal.run("bridge", "--from", "vosk", "--dry-run", *option, given='{"text": "so"}\n')
    assert (done.status, done.out) == (1, "")
    assert f"caesura: the session cannot be sent: {told}" in done.err


def test_impossible_words_are_passed_over_and_counted_without_a_gap(terminal: Terminal) -> None:
    given = '{"text": "so"}\n{"text": "secret \\ud800"}\n{"text": "yes"}\n'
    done = terminal.run("bridge", "--from", "vosk", "--dry-run", given=given)
    assert done.status == 1
    assert spoken(done.out) == [(0, 0, ["so"]), (0, 1, ["yes"]), (0, 2, [])]
    assert "1 message passed over" in done.err
    assert "Traceback" not in done.err
    assert "secret" not in done.err


def test_a_wrong_recognisers_name_is_said_and_is_a_failure(terminal: Terminal) -> None:
    done = terminal.run("bridge", "--from", "deepgram", "--dry-run", given='{"text": "hello there"}\n')
    assert (done.status, done.out) == (1, "")
    assert "1 message, 0 words" in done.err
    assert "no message has the format of deepgram: they look like vosk" in done.err
    silent = terminal.run("bridge", "--from", "vosk", "--dry-run", given='{"text": ""}\n')
    assert (silent.status, silent.err) == (0, "1 message, 0 words, 0 sessions\n")


def test_a_connection_that_breaks_off_is_sought_again_as_a_new_epoch(terminal: Terminal, tmp_path: Path) -> None:
    heard: list[list[str | bytes]] = []

    def speak(connection: ServerConnection) -> None:
        heard.append([connection.recv()])
        if len(heard) == 1:
            connection.send('{"text": "so um"}')
            connection.socket.shutdown(socket.SHUT_RDWR)
            return
        connection.send('{"partial": "y"}')
        while (message := connection.recv()) != "end":
            heard[-1].append(message)
        connection.send('{"text": "yes"}')

    (tmp_path / "audio.raw").write_bytes(b"\1\2" * 3000)
    with serving(speak) as url:
        options = ("--send", '{"rate": 16000}', "--audio", str(tmp_path / "audio.raw"), "--audio-rate", "64000")
        done = terminal.run("bridge", url, "--from", "vosk", "--dry-run", "--finish", "end", *options)
    assert done.status == 0, done.err
    assert spoken(done.out) == [(0, 0, ["so", "um"]), (1, 0, ["yes"]), (1, 1, [])]
    assert [one[0] for one in heard] == ['{"rate": 16000}', '{"rate": 16000}']
    assert "broke off and is there again" in done.err


def test_headers_come_from_a_file_and_a_refusal_is_said(terminal: Terminal, tmp_path: Path) -> None:
    seen: list[str] = []

    def refuse(connection: ServerConnection, request: Request) -> Response:
        seen.append(request.headers["Authorization"])
        return connection.respond(HTTPStatus.UNAUTHORIZED, "no")

    (tmp_path / "headers").write_text("Authorization: Token abc\n\n")
    with serving(lambda _: None, process_request=refuse) as url:
        done = terminal.run(
            "bridge", url, "--from", "deepgram", "--dry-run", "--header-file", str(tmp_path / "headers")
        )
    assert done.status == 1
    assert "refuses the connection: HTTP 401" in done.err
    assert "secret" not in done.err
    assert seen == ["Token abc"]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_a_stopped_bridge_sends_the_words_it_heard(stop: signal.Signals) -> None:
    pipe = subprocess.PIPE
    command = [*CAESURA, "bridge", "--from", "soniox", "--dry-run"]
    tokens = [{"text": "Hello", "is_final": True}, {"text": " there", "is_final": True}]
    with started(*command, environ=outside(), stdin=pipe, stdout=pipe, stderr=pipe) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(json.dumps({"tokens": tokens, "total_audio_proc_ms": 400}) + "\n")
        running.stdin.flush()
        first = running.stdout.readline()
        running.send_signal(stop)
        rest = running.stdout.read()
        assert running.wait(60) == 0
    assert [words for _, _, words in spoken(first + rest)][:2] == [["Hello"], ["there"]]
    assert json.loads(rest.splitlines()[-1])["session_end"]


@pytest.mark.parametrize("linger_ms", [2, 1000])
def test_heard_words_are_sent_when_a_connection_is_given_up(terminal: Terminal, linger_ms: int) -> None:
    spoke: list[bool] = []

    def speak(connection: ServerConnection) -> None:
        spoke.append(True)
        connection.send('{"text": "so um", "segment": 0}')
        connection.socket.shutdown(socket.SHUT_RDWR)

    def once(connection: ServerConnection, request: Request) -> Response | None:
        del request
        return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "no") if spoke else None

    with mock_cluster(["asr.words"]) as bootstrap:
        with serving(speak, once) as url:
            told = ("--set", f"kafka.bootstrap_servers={bootstrap}", "--set", f"kafka.linger_ms={linger_ms}")
            done = terminal.run("bridge", url, *told, "--from", "sherpa-onnx", "--reconnect-for", "0.3")
        assert done.status == 1
        with KafkaReader(KafkaSettings(bootstrap_servers=bootstrap), "asr.words") as reader:
            sent = [decode_event(one.value or b"") for one in reader.read(Start(), follow=False)]
    assert [word.text for one in sent for word in one.words] == ["so", "um"]
    assert sent[-1].session_end


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_in_the_middle_of_a_message_waits_for_the_rest_of_it(stop: signal.Signals) -> None:
    sent: list[WordsEvent] = []
    before = signal.getsignal(stop)

    def deliver(event: WordsEvent) -> None:
        sent.append(event)
        if len(sent) == 1:
            os.kill(os.getpid(), stop)

    name = RecogniserName.DEEPGRAM
    speech = RecognisedSpeech(RECOGNISERS[name].reader(), SessionEvents(session="a", lang="en"))
    words = [{"word": f"w{number}", "start": 0.1, "end": 0.2, "speaker": number} for number in range(3)]
    alternatives = [{"transcript": "x", "words": words}]
    message = {"is_final": True, "start": 0, "duration": 1, "channel": {"alternatives": alternatives}}
    with HeldStops() as stops:
        feed = _Feed(name, speech, deliver, stops)
        with pytest.raises(KeyboardInterrupt):
            feed.read([json.dumps(message)])
        feed.finish(end=True)
    assert [word.text for event in sent for word in event.words] == ["w0", "w1", "w2"]
    assert len({(event.session, event.seq) for event in sent}) == len(sent)
    assert signal.getsignal(stop) is before


def test_a_second_stop_waits_for_nothing() -> None:
    def stop_twice(stops: HeldStops) -> None:
        with stops.held():
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)
            pytest.fail("the second one was held, too")

    with HeldStops() as stops, pytest.raises(KeyboardInterrupt):
        stop_twice(stops)


def test_a_server_that_answers_with_a_fault_is_not_said_to_be_away(terminal: Terminal) -> None:
    def refuse(connection: ServerConnection, request: Request) -> Response:
        del request
        return connection.respond(HTTPStatus.TOO_MANY_REQUESTS, "no")

    with serving(lambda _: None, process_request=refuse) as url:
        done = terminal.run("bridge", url, "--from", "vosk", "--dry-run", "--reconnect-for", "0.3")
    assert done.status == 1
    assert "it answers HTTP 429" in done.err
    assert "nothing listens" not in done.err


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://localhost:2700", "an address begins with ws:// or wss://"),
        ("ws://localhost:abc", "a port is 1 to 65535"),
        ("wss://:2700", "an address is ws://host:port"),
    ],
)
def test_an_invalid_address_is_reported(terminal: Terminal, address: str, told: str) -> None:
    done = terminal.run("bridge", f"{address}/?key=secret", "--from", "vosk", "--dry-run")
    assert (done.status, done.out) == (1, "")
    assert f"caesura: {address}/: " in done.err
    assert told in done.err
    assert "secret" not in done.err
    assert "Traceback" not in done.err


def test_an_address_where_nothing_listens_is_given_up_and_said(terminal: Terminal) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{unused.getsockname()[1]}"
        done = terminal.run("bridge", url, "--from", "vosk", "--dry-run", "--reconnect-for", "0.3")
    assert done.status == 1
    assert "nothing listens there, or TLS is expected (wss://)" in done.err


@pytest.mark.parametrize("again", [False, True])
def test_a_stop_waits_until_what_was_sent_is_taken_and_a_second_one_does_not(
    again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []

    class Stopped(KafkaSender):
        """Is told to stop while it waits."""

        def flush(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            if again:
                os.kill(os.getpid(), signal.SIGINT)
            super().flush()
            taken.append(True)

    monkeypatch.setattr("caesura.worker.commands.bridge.KafkaSender", Stopped)
    (tmp_path / "said.jsonl").write_text('{"text": "so um"}\n')
    with mock_cluster(["asr.words"]) as bootstrap:
        told = ("--from", "vosk", "--set", f"kafka.bootstrap_servers={bootstrap}")
        done = CliRunner().invoke(app, ["bridge", str(tmp_path / "said.jsonl"), *told])
        with KafkaReader(KafkaSettings(bootstrap_servers=bootstrap), "asr.words") as reader:
            sent = [decode_event(one.value or b"") for one in reader.read(Start(), follow=False)]
    assert taken == ([] if again else [True])
    assert (done.exit_code == 0) is not again
    assert again or [word.text for one in sent for word in one.words] == ["so", "um"]


def test_an_address_may_be_longer_than_a_path_may_be() -> None:
    assert is_address(f"wss://example/stream?X-Amz-Security-Token={'s' * 5000}")


pytest.importorskip("websockets")


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


@pytest.mark.slow
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
@pytest.mark.slow
def test_a_bridge_ends_cleanly_while_standard_input_stays_open(ended_by: str) -> None:
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


def test_a_file_arrives_in_whole_chunks_and_the_message_after_it(terminal: Terminal, tmp_path: Path) -> None:
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
        done = terminal.run("bridge", url, "--from", "vosk", "--dry-run", *options)
    assert done.status == 0, done.err
    assert heard == [audio[:CHUNK], audio[CHUNK : 2 * CHUNK], audio[2 * CHUNK :], "end"]


def test_audio_that_cannot_be_read_is_said(terminal: Terminal, tmp_path: Path) -> None:
    with serving(lambda connection: connection.recv()) as url:
        for audio in (tmp_path, tmp_path / "none"):
            done = terminal.run("bridge", url, "--from", "vosk", "--dry-run", "--audio", str(audio))
            assert (done.status, "cannot be read: " in done.err) == (1, True), done.err
