"""Nothing that came from outside moves a terminal's cursor, forges a line or changes the order of what is read."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import select
import time
from collections.abc import Iterator

import msgspec
import pytest
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.codec import decode_segment, encode_segment
from caesura.schemas.dead_letters import DeadLetterHeader
from caesura.worker.commands.terminal import echo, escaped
from caesura.worker.embedded.mock_cluster import mock_cluster
from tests.harness.command import CAESURA, outside
from tests.harness.places import ROOT

TITLE, CLEAR, CLIPBOARD = "\x1b]0;owned\x07", "\x1b[2J\x1b[H", "\x1b]52;c;cm0=\x07"
HOSTILE = f"a{TITLE}{CLEAR}{CLIPBOARD}\x9b31mb\u202ec\r\nreason:            all is well"
CONTROLS = st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp"))
TEXTS = st.text(CONTROLS | st.characters(), max_size=40)
MOVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@given(TEXTS)
def test_what_is_shown_has_no_control_character_and_is_else_as_it_was(text: str) -> None:
    told = escaped(text)
    assert not MOVES.search(told)
    assert "\n" not in told
    if text.isprintable():
        assert told == text


@given(st.binary(max_size=40))
def test_any_bytes_can_be_shown(data: bytes) -> None:
    assert not MOVES.search(escaped(data))


@given(st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_json_that_is_shown_is_json_of_the_same_meaning(value: dict[str, str]) -> None:
    assert json.loads(escaped(json.dumps(value, ensure_ascii=False))) == value


@pytest.mark.parametrize("to_stderr", [False, True])
def test_echo_keeps_lines_and_tabs_and_nothing_else_that_moves(
    to_stderr: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    echo(f"one\ttwo\n{HOSTILE}", err=to_stderr)
    told = "".join(capsys.readouterr())
    assert told.startswith("one\ttwo\n")
    assert not MOVES.search(told)


OTHER_WAYS = {"print", "typer.echo", "typer.secho", "sys.stdout.write", "sys.stderr.write"}


def test_commands_write_by_no_other_way() -> None:
    files = [file for file in (ROOT / "worker" / "commands").glob("*.py") if file.stem != "terminal"]
    calls = [
        (file.name, ast.unparse(node.func))
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    assert [call for call in calls if call[1] in OTHER_WAYS] == []


def in_a_terminal(*arguments: str, **variables: str) -> str:
    """Run the command in a pseudo-terminal; return what it wrote there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(  # noqa: S606
            CAESURA[0], [*CAESURA, *arguments], outside() | {"TERM": "xterm", "COLUMNS": "200"} | variables
        )
    written, ends_at_s = b"", time.monotonic() + 120
    while time.monotonic() < ends_at_s and select.select([terminal], [], [], 120)[0]:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        written += data
    os.close(terminal)
    os.waitpid(pid, 0)
    return written.decode()


@pytest.fixture(scope="module")
def brokers() -> Iterator[str]:
    """Return a cluster with a dead letter and a segment whose names are hostile."""
    with mock_cluster(["asr.dead-letters", "asr.segments"]) as servers:
        producer = Producer({"bootstrap.servers": servers})
        named: list[tuple[str, str | bytes | None]] = [(name.value, HOSTILE.encode()) for name in DeadLetterHeader]
        producer.produce("asr.dead-letters", value=b"\xc1", key=HOSTILE.encode(), headers=named, partition=0)
        golden = next((ROOT / "schemas" / "golden" / "1.0").glob("segment.sentence.msgpack")).read_bytes()
        segment = decode_segment(golden)
        words = tuple(msgspec.structs.replace(word, text=HOSTILE) for word in segment.words)
        value = encode_segment(msgspec.structs.replace(segment, session=HOSTILE, words=words))
        producer.produce("asr.segments", value=value, key=HOSTILE.encode(), partition=0)
        producer.flush(30)
        yield servers


@pytest.mark.parametrize(
    "command",
    [
        ("dead-letters", "show", "0:0"),
        ("dead-letters", "show", "0:0", "--content"),
        ("dead-letters", "list"),
        ("dead-letters", "replay", "--reason", "another"),
        ("tail", "--from-start", "--no-follow"),
        ("tail", "--from-start", "--no-follow", "--format", "jsonl"),
        ("tail", "--from-start", "--no-follow", "--format", "counts"),
        ("tail", "--from-start", "--no-follow", "--format", "srt", "--session", HOSTILE.replace("\x00", "")),
    ],
)
def test_hostile_names_in_a_topic_reach_no_terminal(command: tuple[str, ...], brokers: str) -> None:
    written = in_a_terminal(
        *command,
        CAESURA_KAFKA_BOOTSTRAP_SERVERS=brokers,
        CAESURA_WORKER_DEAD_LETTER_TOPIC="asr.dead-letters",
        CAESURA_WORKER_SEGMENT_TOPIC="asr.segments",
    )
    assert written.strip()
    assert not MOVES.search(written.replace("\r\n", "\n"))
    assert not [line for line in written.splitlines() if line.startswith("reason:            all is well")]
