"""The command line as people meet it: help, mistakes, one line for what went wrong."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from caesura.worker.cli import app
from caesura.worker.option_groups import grouped
from tests.harness.command import caesura, outside
from tests.harness.places import ROOT
from tests.harness.terminal import Terminal

NEEDED_BY_FEW = frozenset(
    ["confluent_kafka", "httpx", "jieba", "numpy", "onnxruntime", "redis", "starlette", "structlog", "websockets"]
)
COMMANDS = sorted(
    file.stem.replace("_", "-")
    for file in (ROOT / "worker" / "commands").glob("*.py")
    if re.search(rf"^(def )?{file.stem}(\(| = )", file.read_text(), re.MULTILINE)
)
"""The modules that hold a function, or commands, of their own name."""


def test_help_lists_every_command() -> None:
    done = caesura("--help")
    assert done.returncode == 0
    listed = done.stdout.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert sorted(line.split()[0] for line in listed) == COMMANDS
    assert "..." not in "".join(listed), "a command's line is cut at 80 columns"


def check_help(shown: str) -> None:
    """Check that a help fits 80 columns with whole words."""
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if "…" in line or re.search(r"<\w+\|[^>]*$", line)] == []


@pytest.mark.slow
def test_every_listed_command_loads_and_its_help_begins_as_it_is_listed(terminal: Terminal) -> None:
    listed = get_command(app)
    assert isinstance(listed, TyperGroup)
    for name, place in listed.commands.items():
        done = terminal.run(name, "--help", COLUMNS="80")
        assert (done.status, done.err) == (0, ""), name
        said = " ".join(done.out.split())
        assert f"Usage: caesura {name} " in said
        assert (place.help or "") in said, name
        if name != "train":
            check_help(done.out)


@pytest.mark.slow
def test_list_settings_and_options_import_no_other_commands_needs() -> None:
    told = "import sys\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    for arguments in (["--help"], ["--version"], ["settings"], ["worker", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", f"from caesura.worker.cli import main\n{told}", *arguments],
            cwd=ROOT,
            env=outside(),
            capture_output=True,
            text=True,
            check=True,
        )
        imported = set(done.stderr.split())
        assert "caesura.worker.cli" in imported
        assert not imported & NEEDED_BY_FEW, arguments
        others = {f"caesura.worker.commands.{name.replace('-', '_')}" for name in {*COMMANDS} - {"version", *arguments}}
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
@pytest.mark.slow
def test_a_mistake_is_answered_with_what_was_meant(terminal: Terminal, arguments: tuple[str, ...], meant: str) -> None:
    done = terminal.run(*arguments)
    assert done.status != 0
    assert done.out == ""
    assert meant in done.err


@pytest.mark.parametrize(
    "command", [("worker",), ("check",), ("tail",), ("topics", "create"), ("dead-letters", "list")]
)
def test_a_command_without_brokers_says_which_setting_is_missing(terminal: Terminal, command: tuple[str, ...]) -> None:
    done = terminal.run(*command)
    assert done.status == 1
    assert "CAESURA_KAFKA_BOOTSTRAP_SERVERS" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        ("tail",),
        ("view",),
        ("topics", "create"),
        ("dead-letters", "list"),
        ("unpark", "0"),
        ("skip", "asr.words", "0", "7"),
    ],
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


COMPLETED = {
    "caesura pun": "punctuate",
    "caesura dead-letters sh": "show",
    "caesura settings --m": "--markdown",
    "caesura tail --set worker.commit_in": "worker.commit_interval_ms=",
    "caesura bridge --from sher": "sherpa-onnx",
}
COMPLETING = """
import contextlib, os, sys
from caesura.worker.cli import main
lines, sys.argv = sys.argv[1:], ["caesura"]
for typed in lines:
    os.environ |= {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    print("typed:", typed)
    with contextlib.suppress(SystemExit):
        main()
"""


def test_the_shell_completes_commands_choices_and_settings() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPLETING, *COMPLETED],
        cwd=ROOT,
        env=outside() | {"_CAESURA_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    answers = done.stdout.split("typed: ")[1:]
    assert len(answers) == len(COMPLETED), done.stderr
    for answer, offered in zip(answers, COMPLETED.values(), strict=True):
        assert offered in answer.splitlines()[1:]


def test_the_version_is_printed(terminal: Terminal) -> None:
    assert terminal.run("version").out.startswith("caesura ")
    assert terminal.run("--version").out.startswith("caesura ")


IN_GROUPS = {"topics": ["create"], "captions": ["zoom", "obs"], "dead-letters": ["list", "show", "replay"]}


def test_help_fits_80_columns_with_whole_words(terminal: Terminal) -> None:
    for command in ([], *([name, one] for name, ones in IN_GROUPS.items() for one in ones)):
        check_help(terminal.run(*command, "--help", COLUMNS="80").out)


def test_square_brackets_in_help_are_text(terminal: Terminal) -> None:
    assert "[reparanda] and {fillers}" in terminal.run("punctuate", "--help").out


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


@pytest.mark.parametrize("asked", ["--help", "settings"])
def test_a_reader_that_has_gone_is_no_failure(asked: str) -> None:
    command = [sys.executable, "-c", "from caesura.worker.cli import main; main()", asked]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert (running.stderr.read(), running.wait(60)) == (b"", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    folder: Annotated[Path, typer.Argument(help="Where.")]
    colour: Annotated[str, typer.Option("--tint", help="Which.")] = "red"
    watts: Annotated[int, typer.Option()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    floor: Annotated[int, typer.Option(max=3)] = 0


def test_every_field_is_an_option_as_it_is_annotated() -> None:
    given: list[object] = []
    app = typer.Typer()

    @app.command()
    @grouped
    def light(lamp: Lamp, place: Place, twice: bool = False) -> None:
        """Light it."""
        given.extend((lamp, place, twice))

    run = CliRunner()
    assert run.invoke(app, ["hall", "--watts", "40", "--tint", "blue", "--floor", "2", "--twice"]).exit_code == 0
    assert given == [Lamp(folder=Path("hall"), colour="blue", watts=40), Place(floor=2), True]
    assert run.invoke(app, ["hall"]).exit_code == 2
    assert run.invoke(app, ["hall", "--watts", "40", "--floor", "4"]).exit_code == 2
    assert "Light it." in run.invoke(app, ["--help"]).output


def test_two_groups_with_a_field_of_one_name_are_refused() -> None:
    def light(one: Lamp, other: Lamp) -> None:
        raise AssertionError((one, other))

    with pytest.raises(TypeError, match="share a name"):
        grouped(light)
