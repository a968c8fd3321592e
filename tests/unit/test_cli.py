"""The command line as people meet it: help, mistakes, one line for what went wrong."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from tests.harness.command import CAESURA, caesura, outside
from tests.harness.places import ROOT
from worker.cli import app, main

NEEDED_BY_FEW = frozenset(
    ["confluent_kafka", "httpx", "jieba", "numpy", "onnxruntime", "redis", "starlette", "structlog", "websockets"]
)
COMMANDS = sorted(
    file.stem.replace("_", "-")
    for file in (ROOT / "worker" / "commands").glob("*.py")
    if re.search(rf"^(def )?{file.stem}(\(| = )", file.read_text(), re.MULTILINE)
)
"""The modules that hold a function, or commands, of their own name."""


class Terminal:
    """Runs the command in this process: quicker, and as true where only text and status matter."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str, **variables: str) -> Outcome:
        with self._monkeypatch.context() as patch:
            for name in os.environ:
                if name.startswith("CAESURA_"):
                    patch.delenv(name)
            for name, value in ({"COLUMNS": "200", "NO_COLOR": "1"} | variables).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["caesura", *arguments])
            with pytest.raises(SystemExit) as ended:
                main()
        logging.getLogger("caesura.kafka").setLevel(logging.NOTSET)  # the command silences it for its process
        shown = self._capsys.readouterr()
        return Outcome(status=int(ended.value.code or 0), out=shown.out, err=shown.err)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(monkeypatch, capsys)


def test_help_lists_every_command() -> None:
    done = caesura("--help")
    assert done.returncode == 0
    listed = done.stdout.partition("Commands ─")[2].splitlines()[1:]
    assert sorted(line.split()[1] for line in listed if line.startswith("│ ") and line[2] != " ") == COMMANDS


def test_every_listed_command_loads_and_its_help_begins_as_it_is_listed(terminal: Terminal) -> None:
    listed = get_command(app)
    assert isinstance(listed, TyperGroup)
    for name, place in listed.commands.items():
        done = terminal.run(name, "--help")
        assert (done.status, done.err) == (0, ""), name
        said = " ".join(done.out.replace("│", " ").split())
        assert f"Usage: caesura {name} " in said
        assert (place.help or "").replace("`", "") in said, name


def test_the_list_settings_and_a_commands_options_are_told_without_what_other_commands_need() -> None:
    told = "import sys\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    for arguments in (["--help"], ["--version"], ["settings"], ["worker", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", f"from worker.cli import main\n{told}", *arguments],
            cwd=ROOT,
            env=outside(),
            capture_output=True,
            text=True,
            check=True,
        )
        imported = set(done.stderr.split())
        assert "worker.cli" in imported
        assert not imported & NEEDED_BY_FEW, arguments
        others = {f"worker.commands.{name.replace('-', '_')}" for name in {*COMMANDS} - {"version", *arguments}}
        assert not imported & others, arguments


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("punctuat",), "punctuate"),
        (("chekc",), "check"),
        (("dead-letter", "list"), "dead-letters"),
        (("punctuate", "--ouput", "fluent"), "--output"),
        (("replay", "x.txt", "--sped", "2"), "--speed"),
        (("punctuate", "--output", "markd"), "marked"),
        (("settings", "--set", "worker.ordinl=1"), "worker.ordinal"),
        (("settings", "--set", "worker.ordinl"), "written section.field=value; did you mean worker.ordinal?"),
    ],
)
def test_a_mistake_is_answered_with_what_was_meant(terminal: Terminal, arguments: tuple[str, ...], meant: str) -> None:
    done = terminal.run(*arguments)
    assert done.status != 0
    assert done.out == ""
    assert meant in done.err


def test_a_mistyped_variable_is_answered_with_what_was_meant() -> None:
    done = caesura("punctuate", given="so\n", CAESURA_DECODING_STEP_WORD="3")
    assert done.returncode == 1
    assert "did you mean CAESURA_DECODING_STEP_WORDS?" in done.stderr


@pytest.mark.parametrize(
    "command", [("worker",), ("check",), ("tail",), ("topics", "create"), ("dead-letters", "list")]
)
def test_a_command_without_brokers_says_which_setting_is_missing(terminal: Terminal, command: tuple[str, ...]) -> None:
    done = terminal.run(*command)
    assert done.status == 1
    assert "CAESURA_KAFKA_BOOTSTRAP_SERVERS" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_missing_file_is_one_line(terminal: Terminal) -> None:
    done = terminal.run("punctuate", "no-such-file.txt")
    assert (done.status, done.err) == (
        1,
        "caesura: no-such-file.txt cannot be read: No such file or directory\n",
    )


def test_what_is_not_utf_8_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    assert "not UTF-8" in terminal.run("punctuate", str(tmp_path / "latin.txt")).err


def test_what_is_not_utf_8_on_standard_input_is_refused_too_and_never_a_traceback() -> None:
    for locale in ("C", "C.UTF-8"):
        done = subprocess.run(
            [*CAESURA, "punctuate", "--output", "jsonl"],
            cwd=ROOT,
            env=outside() | {"LC_ALL": locale},
            input=b"so\ncaf\xe9",
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 1
        assert done.stderr == b"caesura: standard input is not UTF-8 text (byte 6)\n"
        assert done.stdout.count(b"\n") == 1, "the line before it was fine"


@pytest.mark.parametrize(
    "command", [("tail",), ("view",), ("topics", "create"), ("dead-letters", "list"), ("unpark", "0")]
)
def test_where_nothing_listens_it_is_said_at_once(terminal: Terminal, command: tuple[str, ...]) -> None:
    began_s = time.monotonic()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        done = terminal.run(*command, CAESURA_KAFKA_BOOTSTRAP_SERVERS=address)
    assert done.status == 1
    assert f"{address}: connection refused: nothing listens there" in done.err
    assert time.monotonic() - began_s < 2


@pytest.mark.parametrize("lang", ["klingon", "english"])
def test_a_language_that_nobody_serves_is_said_with_what_there_is(
    terminal: Terminal, tmp_path: Path, lang: str
) -> None:
    (tmp_path / "a.txt").write_text("so yes\n")
    done = terminal.run("punctuate", str(tmp_path / "a.txt"), "--lang", lang)
    assert f"there is no model for {lang}, there is one for en and zh" in done.err
    assert ("did you mean en?" in done.err) == (lang == "english")


@pytest.mark.parametrize("command", [("replay", "--dry-run"), ("bridge", "--dry-run", "--from", "vosk")])
def test_who_sends_words_is_told_of_a_language_that_nobody_serves_and_they_are_sent(
    terminal: Terminal, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "so yes"}\n')
    done = terminal.run(*command, str(tmp_path / "a.jsonl"), "--lang", "english")
    assert done.status == 0
    assert "there is no model for english, there is one for en and zh" in done.err
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
    ("typed", "offered"),
    [
        ("caesura pun", "punctuate"),
        ("caesura dead-letters sh", "show"),
        ("caesura settings --m", "--markdown"),
        ("caesura tail --set worker.commit_in", "worker.commit_interval_ms="),
        ("caesura bridge --from sher", "sherpa-onnx"),
    ],
)
def test_the_shell_completes_commands_choices_and_settings(typed: str, offered: str) -> None:
    asked = {"_CAESURA_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'caesura'; from worker.cli import main; main()"],
        cwd=ROOT,
        env=outside() | asked,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert offered in done.stdout.splitlines()


def test_at_a_terminal_punctuate_prompts_and_answers_line_by_line() -> None:
    parent, child = pty.openpty()
    command = [*CAESURA, "punctuate"]
    with subprocess.Popen(
        command, cwd=ROOT, env=outside(), stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert b"Ctrl-D ends" in run.stderr.readline()
        os.write(parent, b"can you hear me\n")
        assert run.stdout.readline() == b"Can you hear me?\n", "before anything else is typed"
        os.write(parent, b"\4")
        assert run.wait(60) == 0
    os.close(parent)
    os.close(child)


def test_the_version_is_printed(terminal: Terminal) -> None:
    assert terminal.run("version").out.startswith("caesura ")
    assert terminal.run("--version").out.startswith("caesura ")


def test_square_brackets_in_help_are_text(terminal: Terminal) -> None:
    assert "[reparanda] and {fillers}" in terminal.run("punctuate", "--help").out


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", "so yes\n", "line 1 is not JSON"),
        ("a.jsonl", '\n\n{"session": "a", "wrds": []}\n', "line 3 has a field that no event has; did you mean words?"),
        ("a.txt", '\n{"session": "a", "seq": "one"}\n', "line 2 is no word event"),
    ],
)
def test_a_file_that_cannot_be_replayed_is_refused_by_line_before_any_broker_is_asked(
    terminal: Terminal, tmp_path: Path, name: str, content: str, told: str
) -> None:
    (tmp_path / name).write_text(content)
    done = terminal.run("replay", str(tmp_path / name), CAESURA_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1")
    assert done.status == 1
    assert told in done.err


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", '[{"Word": "hi", "Offset": 1}]', "is JSON, but of no recogniser that is known here"),
        ("a.txt", '[{"Word": "hi", "Offset": 1}]', "is JSON, but of no recogniser that is known here"),
        ("a.xml", "<?xml version='1.0'?><tt>hi</tt>", "looks like TTML or other XML"),
    ],
)
def test_what_is_not_recognised_is_never_spoken(
    terminal: Terminal, tmp_path: Path, name: str, content: str, told: str
) -> None:
    (tmp_path / name).write_text(content)
    done = terminal.run("replay", str(tmp_path / name), CAESURA_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1")
    assert (done.status, done.out) == (1, "")
    assert told in done.err
    assert "nothing was sent" in done.err


def test_captions_are_replayed_as_their_words_and_a_dry_run_sends_nothing(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nSo yes.\n")
    done = terminal.run("replay", str(tmp_path / "talk.srt"), "--dry-run", "--prefix", "")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 0, "no broker is set, and none is asked"
    assert [word["text"] for line in lines for word in line.get("words", [])] == ["So", "yes."]
    assert done.err == "srt: 2 events, 2 words, 1 session would be sent over 2.0 s; nothing was\n"
    (tmp_path / "again.jsonl").write_text(done.out)
    again = terminal.run("replay", str(tmp_path / "again.jsonl"), "--dry-run")
    assert again.out == done.out, "what it prints can be replayed"


def test_settings_are_listed_with_where_they_came_from(terminal: Terminal) -> None:
    done = terminal.run("settings", CAESURA_KAFKA_BOOTSTRAP_SERVERS="broker:9092", CAESURA_WORKER_ORDINAL="7")
    line = next(line for line in done.out.splitlines() if line.startswith("worker.ordinal"))
    assert line.split()[1:3] == ["7", "CAESURA_WORKER_ORDINAL"]


def test_settings_are_listed_where_one_that_must_be_set_is_missing(terminal: Terminal) -> None:
    done = terminal.run("settings")
    assert done.status == 0
    line = next(line for line in done.out.splitlines() if line.startswith("kafka.bootstrap_servers"))
    assert "(must be set)" in line


def test_settings_that_do_not_fit_are_said_and_not_listed(terminal: Terminal) -> None:
    done = terminal.run("settings", CAESURA_WORKER_ORDINAL="seven")
    assert (done.status, done.out) == (1, "")
    assert "CAESURA_WORKER_ORDINAL: 'seven' does not fit" in done.err
    assert "bootstrap" not in done.err


def test_punctuate_labels_standard_input_with_the_shipped_model() -> None:
    spoken = "so um how are you today i am fine thank you\n"
    done = caesura("punctuate", "--output", "jsonl", given=spoken + "\n" + spoken)
    assert done.returncode == 0, done.stderr
    segments = [json.loads(line) for line in done.stdout.splitlines()]
    assert {segment["session"] for segment in segments} == {"line-1", "line-3"}
    first = [word for segment in segments if segment["session"] == "line-1" for word in segment["words"]]
    assert [word["text"] for word in first] == spoken.split()
    assert all({"text", "punctuation", "disfluency"} <= word.keys() for word in first)
    assert {"period", "question"} & {word["punctuation"] for word in first}
    assert segments[0]["model"]["id"]


def test_punctuate_verbatim_is_the_input_byte_for_byte() -> None:
    spoken = "so  um\thow ARE you, today?\n\n yes \n"
    assert caesura("punctuate", "--output", "verbatim", given=spoken).stdout == spoken


def test_punctuate_writes_text_for_people() -> None:
    done = caesura("punctuate", given="good morning everybody can you all hear me how are you today\n")
    assert done.stdout[0] == "G"
    assert done.stdout.rstrip()[-1] in ".?"


def test_a_language_without_a_model_is_said_and_its_words_come_out() -> None:
    done = caesura("punctuate", "--lang", "fr", given="bonjour à tous\n")
    assert done.stdout == "bonjour à tous\n"
    assert "no model for fr" in done.stderr


def test_output_can_be_cut_off_by_its_reader() -> None:
    command = f"{sys.executable} -c 'from worker.cli import main; main()' settings --markdown | head -1"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S602
    assert (done.stdout, done.stderr) == ("# Settings\n", "")
