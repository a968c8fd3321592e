"""Commands in processes of their own, ``caesura`` above all, and what they may have left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.harness.places import ROOT

_ENDS_WITHIN_S = 60.0

CAESURA = (sys.executable, "-c", "from caesura.worker.cli import main; main()")
"""How a test starts the command: its arguments follow."""


def outside() -> dict[str, str]:
    """Return this process's environment without anything that is a setting."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}


def caesura(*arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command with nothing of ours in the environment but ``variables``; 60 s at most."""
    return subprocess.run(
        [*CAESURA, *arguments],
        cwd=ROOT,
        env=outside() | {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"} | variables,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@contextmanager
def started(
    *command: str | Path,
    environ: Mapping[str, str] | None = None,
    folder: Path = ROOT,
    stdin: int | IO[Any] = subprocess.DEVNULL,
    stdout: int | IO[Any] | None = None,
    stderr: int | IO[Any] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Run a command until the end of the block. Where it still lives then, it is told to end, and at last killed."""
    with subprocess.Popen(
        command, cwd=folder, env=environ, stdin=stdin, stdout=stdout, stderr=stderr, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()


def left_running(folder: Path) -> list[str]:
    """Return the command lines of processes that name ``folder``, where the demo's redis-server lives."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


@contextmanager
def web_demo(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run it, its files in ``folder``; yield the process and its address, once it has told that."""
    command = [*CAESURA, "demo", "--web", "--port", "0", "--speed", "4"]
    with started(*command, environ=os.environ | {"TMPDIR": str(folder)}, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = ""
        while "open http" not in line:
            line = process.stderr.readline()
            assert line, "the demo ended before it began"
        yield process, line.split()[1]


@contextmanager
def release(commit: str, *, compiled: bool = False) -> Iterator[Path]:
    """Unpack the tree of a commit or tag into a folder of its own, which goes away in the end.

    compiled: with what an installation of it would have compiled. subprocess.CalledProcessError: there is no
    such commit here, or it does not compile.
    """
    packed = subprocess.run(
        ["/usr/bin/env", "git", "-C", str(ROOT), "archive", "--format=tar", commit],
        check=True,
        capture_output=True,
    ).stdout
    with tempfile.TemporaryDirectory(prefix="caesura-release-") as folder:
        subprocess.run(["/usr/bin/env", "tar", "-x", "-C", folder], input=packed, check=True)
        if compiled and Path(folder, "setup.py").exists():
            subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, check=True)
        yield Path(folder)
