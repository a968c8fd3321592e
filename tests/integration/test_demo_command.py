"""``caesura demo`` without a terminal: every word published, exit 0, and nothing of it left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from worker.cli import main; main()", "demo", "--speed", "4"]


def started(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        COMMAND,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder), "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


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


def wait_until_none_runs(folder: Path) -> list[str]:
    deadline_s = time.monotonic() + 10
    while left_running(folder) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return left_running(folder)


@pytest.mark.timeout(90)
def test_the_demo_publishes_every_word_and_leaves_nothing_behind(tmp_path: Path) -> None:
    process = started(tmp_path)
    out, err = process.communicate(timeout=80)
    assert process.returncode == 0, err
    assert "heard and published once, in order" in out
    assert "\x1b[" not in out
    assert {"Anna", "Ben", "Carla", "小陈"} <= set(out.split())
    assert wait_until_none_runs(tmp_path) == []


@pytest.mark.timeout(90)
def test_a_killed_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    process = started(tmp_path)
    deadline_s = time.monotonic() + 40
    while not left_running(tmp_path) and process.poll() is None and time.monotonic() < deadline_s:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert wait_until_none_runs(tmp_path) == []
