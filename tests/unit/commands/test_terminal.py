"""Nothing that came from outside moves a terminal's cursor, forges a line or changes the order of what is read."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from caesura.schemas.codec import decode_segment, encode_segment
from caesura.schemas.dead_letters import DeadLetterHeader
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.captions.sides import SideCues
from caesura.worker.commands.captions import _show
from caesura.worker.commands.settings import settings, settings_reference
from caesura.worker.commands.terminal import echo, write
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.embedded.mock_cluster import mock_cluster
from caesura.worker.errors import FatalError
from caesura.worker.escaping import escaped
from caesura.worker.feeds.lines import shown_name
from caesura.worker.ports.caption_sink import CaptionSink
from caesura.worker.settings.tree import SettingSources, load_broker_settings, open_settings
from tests.harness.places import ROOT
from tests.harness.terminal import HOSTILE, MOVES, Terminal, hostile_segment, in_a_terminal

CONTROLS = st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp"))
TEXTS = st.text(CONTROLS | st.characters(), max_size=40)


@given(TEXTS)
def test_shown_text_and_a_files_name_lose_only_control_characters(text: str) -> None:
    told = escaped(text)
    assert not MOVES.search(told)
    assert "\n" not in told
    if text.isprintable():
        assert told == text
    assert shown_name(text) == ("standard input" if text == "-" else told)


@given(st.binary(max_size=40))
def test_any_bytes_can_be_shown(data: bytes) -> None:
    assert not MOVES.search(escaped(data))


@given(st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_json_that_is_shown_is_json_of_the_same_meaning(value: dict[str, str]) -> None:
    assert json.loads(escaped(json.dumps(value, ensure_ascii=False))) == value


@pytest.mark.parametrize("to_stderr", [False, True])
def test_write_keeps_lines_and_tabs_and_echo_makes_one_line(
    to_stderr: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    write(f"one\ttwo\n{HOSTILE}", err=to_stderr)
    told = "".join(capsys.readouterr())
    assert told.startswith("one\ttwo\n")
    assert not MOVES.search(told)
    echo(f"one\ntwo {HOSTILE}", err=to_stderr)
    told = "".join(capsys.readouterr())
    assert told.endswith("\n")
    assert len(told.splitlines()) == 1
    assert not MOVES.search(told)


@pytest.mark.parametrize(
    "arguments",
    [
        ("skip", HOSTILE, "0", "7"),
        ("dead-letters", "show", HOSTILE),
        ("dead-letters", "replay", HOSTILE),
        ("tail", "--route", HOSTILE),
        ("punctuate", HOSTILE.replace("\x00", "")),
        ("settings", "--set", f"{HOSTILE}=1"),
        ("settings", "--set", f"worker.ordinal={HOSTILE}"),
        ("bench", "--language", HOSTILE),
    ],
)
@pytest.mark.slow
def test_a_value_in_an_error_makes_no_second_line(terminal: Terminal, brokers: str, arguments: tuple[str, ...]) -> None:
    done = terminal.run(*arguments, CAESURA_KAFKA_BOOTSTRAP_SERVERS=brokers)
    assert (done.status, done.out) == (1, "")
    assert not MOVES.search(done.err)
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [(f"--{HOSTILE}",), ("tail", f"--{HOSTILE}"), ("skip", "a", "0", "0", HOSTILE)])
def test_a_usage_error_quotes_no_raw_argument(terminal: Terminal, arguments: tuple[str, ...]) -> None:
    done = terminal.run(*arguments)
    assert done.status == 2
    assert not MOVES.search(done.err)
    assert not [line for line in done.err.splitlines() if line.startswith("reason:")]


def test_an_error_of_several_lines_keeps_them(terminal: Terminal) -> None:
    done = terminal.run("settings", "--set", "worker.ordinl=1", "--set", "worker.topc=a")
    assert [line[:31] for line in done.err.splitlines()] == ["caesura: --set: there is no set"] * 2
    assert str(FatalError("a", "b")) == "a\nb"


DIGITS = "9" * 5000


@pytest.mark.parametrize("arguments", [
    *[("dead-letters", "show", place) for place in (
        "²:1", "0:²", "٣:1", f"0:{'9' * 30}", f"0:{DIGITS}", f"{DIGITS}:0", f"{2**31}:0", f"0:{2**63}", "0:-1", "1_0:0",
        "0:", ":", "0", "0:1:2", "0x1:0", " 0:0", f"0:{2**63 - 1}", f"{2**31 - 1}:0",
    )],
    *[("skip", "asr.words", *place) for place in (
        ("999999999999", "0"), ("0", str(10**30)), (DIGITS, "0"), ("0", DIGITS), ("²", "0"), ("-1", "0"),
    )],
    *[("unpark", partition) for partition in ("999999999999", DIGITS, "²")],
    *[("topics", "create", option, DIGITS) for option in ("--partitions", "--replication", "--retention-days")],
    ("dead-letters", "list", "--limit", DIGITS),
    *[("tail", option, number) for option in ("--columns", "--lines", "--words-per-minute", "--at-least") for number in
      (DIGITS, "inf", "nan")],
    *[("tail", "--stretch", stretch) for stretch in (f"0-{DIGITS}", "²-3", f"{'9' * 400}:0:0-1")],
    *[(*command, number) for command in
      (("replay", "a.txt", "--speed"), ("demo", "--speed"), ("bench", "--seconds"), ("replay", "a.txt", "--wait-for"))
      for number in ("nan", "inf", "1e400")],
    *[(command, "--port", DIGITS) for command in ("serve", "view", "demo")],
])  # fmt: skip
def test_a_number_that_cannot_be_is_refused_in_a_line(
    terminal: Terminal, brokers: str, arguments: tuple[str, ...]
) -> None:
    done = terminal.run(*arguments, CAESURA_KAFKA_BOOTSTRAP_SERVERS=brokers)
    assert done.status in (1, 2)
    assert done.out == ""
    assert done.err.splitlines()[-1].startswith(("caesura: ", "Error: "))


def test_every_number_of_a_command_has_both_bounds() -> None:
    for file in (ROOT / "worker" / "commands").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Annotated"):
                continue
            written = ast.unparse(node)
            if re.search(r"Annotated\[(list\[)?(int|float)\b", written) and "Run of the producer" not in written:
                assert "min=" in written, f"{file.name}: {written}"
                assert "max=" in written, f"{file.name}: {written}"


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


@pytest.fixture(scope="module")
def brokers() -> Iterator[str]:
    """Return a cluster with a dead letter and a segment whose names are hostile."""
    with mock_cluster(["asr.dead-letters", "asr.segments", "live"]) as servers:
        producer = Producer({"bootstrap.servers": servers})
        named: list[tuple[str, str | bytes | None]] = [(name.value, HOSTILE.encode()) for name in DeadLetterHeader]
        for timestamp_ms in (10**15, 2**63 - 1, 1):
            producer.produce("asr.dead-letters", b"\xc1", HOSTILE.encode(), 0, headers=named, timestamp=timestamp_ms)
        producer.produce("asr.segments", value=encode_segment(hostile_segment()), key=HOSTILE.encode(), partition=0)
        producer.flush(30)
        yield servers


@pytest.mark.parametrize(
    "command",
    [
        ("dead-letters", "show", "0:0"),
        ("dead-letters", "show", "0:0", "--content"),
        ("dead-letters", "show", "0:1"),
        ("dead-letters", "list"),
        ("dead-letters", "replay", "--reason", "another"),
        ("tail", "--from-start", "--no-follow"),
        ("tail", "--from-start", "--no-follow", "--format", "jsonl"),
        ("tail", "--from-start", "--no-follow", "--format", "counts"),
        ("tail", "--from-start", "--no-follow", "--format", "srt", "--session", HOSTILE.replace("\x00", "")),
    ],
)
def test_hostile_names_in_a_topic_reach_no_terminal(command: tuple[str, ...], brokers: str, terminal: Terminal) -> None:
    settings = {
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": brokers,
        "CAESURA_WORKER_DEAD_LETTER_TOPIC": "asr.dead-letters",
        "CAESURA_WORKER_SEGMENT_TOPIC": "asr.segments",
    }
    if "--content" in command:  # one of them in a real one
        written = in_a_terminal(*command, **settings)  # type: ignore[arg-type]
    else:
        done = terminal.run(*command, **settings)
        written = done.out + done.err
    assert written.strip()
    assert "Traceback" not in written
    assert not MOVES.search(written.replace("\r\n", "\n"))
    assert not [line for line in written.splitlines() if line.startswith("reason:            all is well")]


@pytest.mark.slow
def test_hostile_names_reach_no_terminal_while_a_topic_is_followed(brokers: str) -> None:
    written = in_a_terminal(
        *("tail", "--from-start", "--conversation", HOSTILE),
        until=lambda told: "all is well" in told,
        CAESURA_KAFKA_BOOTSTRAP_SERVERS=brokers,
        CAESURA_WORKER_SEGMENT_TOPIC="asr.segments",
    )
    assert "all is well" in written
    assert not MOVES.search(written.replace("\r\n", "\n"))


class ShownCaptions(CaptionSink):
    def __init__(self) -> None:
        self.texts: list[str] = []

    @override
    def post(self, text: str) -> None:
        self.texts.append(text)


def test_captions_pass_over_what_is_no_segment_and_go_on(brokers: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = load_broker_settings(
        SettingSources(environ={"CAESURA_KAFKA_BOOTSTRAP_SERVERS": brokers, "CAESURA_WORKER_SEGMENT_TOPIC": "live"})
    )
    sink, cues = (
        ShownCaptions(),
        SideCues(session=HOSTILE, conversation=None, limits=CaptionLimits(), style=Style.FLUENT),
    )
    golden = next((ROOT / "schemas" / "golden" / "1.0").glob("segment.sentence.msgpack")).read_bytes()
    segment = msgspec.structs.replace(decode_segment(golden), session=HOSTILE, session_end=True)
    producer = Producer({"bootstrap.servers": brokers})
    showing = threading.Thread(target=_show, args=(settings, None, cues, sink), daemon=True)
    showing.start()
    ends_at_s = time.monotonic() + 60
    while showing.is_alive() and time.monotonic() < ends_at_s:  # it begins at the topic's end, whenever that is known
        for value in (HOSTILE.encode(), b"\xc1", None, encode_segment(segment)):
            producer.produce("live", value=value, key=HOSTILE.encode(), partition=0)
        producer.flush(30)
        showing.join(1)
    told = capsys.readouterr().err
    assert not showing.is_alive()
    assert sink.texts
    assert "passed over: partition 0 offset " in told
    assert not MOVES.search(told)
    assert len([line for line in told.splitlines() if line.startswith("waiting for ")]) == 1


def shell(line: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-o", "pipefail", "-c", line.replace("caesura", f"{sys.executable} -m caesura", 1)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.slow
def test_a_reader_that_has_enough_is_no_failure() -> None:
    done = shell("caesura settings --markdown | head -1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "# Settings\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.slow
def test_a_full_disk_is_told_in_a_line() -> None:
    done = shell("caesura settings --markdown >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "caesura: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("lang", ["klingon", "english"])
def test_a_language_without_a_model_is_named_with_the_served_ones(
    terminal: Terminal, tmp_path: Path, lang: str
) -> None:
    (tmp_path / "a.txt").write_text("so yes\n")
    done = terminal.run("punctuate", str(tmp_path / "a.txt"), "--lang", lang)
    assert f"there is no model for {lang}, there is one for de, en, es, fr and zh" in done.err
    assert ("did you mean en?" in done.err) == (lang == "english")


@pytest.mark.parametrize("command", [("replay", "--dry-run"), ("bridge", "--dry-run", "--from", "vosk")])
def test_words_of_an_unserved_language_are_sent_with_a_warning(
    terminal: Terminal, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "so yes"}\n')
    done = terminal.run(*command, str(tmp_path / "a.jsonl"), "--lang", "english")
    assert done.status == 0
    assert "there is no model for english, there is one for de, en, es, fr and zh" in done.err
    assert "did you mean en?" in done.err
    assert '"text":"yes"' in done.out
    for served in ("en-GB", "zh"):
        assert "no model" not in terminal.run(*command, str(tmp_path / "a.jsonl"), "--lang", served).err


def test_a_machine_without_models_is_told_nothing_of_languages(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("so yes\n")
    empty = f"worker.models_dir={tmp_path}"
    done = terminal.run("replay", "--dry-run", str(tmp_path / "a.txt"), "--lang", "klingon", "--set", empty)
    assert done.status == 0
    assert "no model" not in done.err


def test_a_recognisers_text_in_another_script_than_its_languages_is_said(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "大家 早上好"}\n')
    done = terminal.run("bridge", "--dry-run", "--from", "vosk", str(tmp_path / "a.jsonl"))
    assert "the text is mostly Chinese characters, and its language is said to be en" in done.err


@pytest.mark.parametrize("said", ["你好吗\n", "大家早上好我刚刚到办公室\n" * 2])
def test_text_in_another_script_than_its_languages_is_said(terminal: Terminal, tmp_path: Path, said: str) -> None:
    (tmp_path / "a.txt").write_text(said)
    done = terminal.run("punctuate", str(tmp_path / "a.txt"))
    assert done.err.count("did you mean --lang zh?") == 1
    done = terminal.run("replay", str(tmp_path / "a.txt"), "--dry-run")
    assert done.err.count("did you mean --lang zh?") == 1


@pytest.mark.parametrize(
    ("said", "lang"),
    [
        ("привет как дела", "en-GB"),
        ("مرحبا كيف حالك", "en"),
        ("안녕하세요 여러분 오늘은", "zh"),
        ("привет как дела", "ru"),
    ],
)
def test_text_in_a_script_that_no_model_was_trained_on_is_said_and_comes_out(
    terminal: Terminal, tmp_path: Path, said: str, lang: str
) -> None:
    (tmp_path / "a.txt").write_text(f"{said}\n" * 2)
    done = terminal.run("punctuate", str(tmp_path / "a.txt"), "--lang", lang, "--output", "verbatim")
    assert done.out == f"{said}\n" * 2
    told = f"the text is mostly of another script, and its language is said to be {lang}: its labels mean nothing"
    assert done.err.count(told) == (lang != "ru")


@pytest.mark.parametrize("said", ["we met José Müller at the Café Škoda", "so Иван said hello to everybody"])
def test_names_of_other_languages_are_no_other_script(terminal: Terminal, tmp_path: Path, said: str) -> None:
    (tmp_path / "a.txt").write_text(f"{said}\n")
    assert "mostly" not in terminal.run("punctuate", str(tmp_path / "a.txt")).err


def test_a_language_without_a_model_is_said_and_its_words_come_out(terminal: Terminal) -> None:
    done = terminal.run("punctuate", "--lang", "pt", given="bom dia a todos\n")
    assert done.out == "bom dia a todos\n"
    assert "no model for pt" in done.err


def test_a_model_to_be_active_that_is_not_there_is_refused_with_those_that_are(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("so yes\n")
    done = terminal.run("punctuate", str(tmp_path / "a.txt"), "--set", 'worker.active_models=["tiny"]')
    assert done.status != 0
    assert "worker.active_models: tiny names no one model; there are en-ct-12x384@" in done.err


def test_the_documented_settings_are_the_settings() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_reference(), "run: make docs"


def test_an_address_in_brackets_is_listed_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    settings(assignments=["redis.addresses=[fd00::1]:6379"], markdown=False)
    assert "[fd00::1]:6379" in capsys.readouterr().out


def test_every_setting_has_a_row() -> None:
    reference = settings_reference()
    assert all(f"| `{leaf.name}` |" in reference for leaf in open_settings())
