"""``caesura demo`` without a terminal: every word published, exit 0, and nothing of it left running."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.harness.command import CAESURA, left_running
from tests.harness.places import ROOT
from tests.harness.waiting import comes

COMMAND = [*CAESURA, "demo", "--speed", "4"]


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


@pytest.mark.timeout(90)
def test_the_demo_publishes_every_word_and_leaves_nothing_behind(tmp_path: Path) -> None:
    process = started(tmp_path)
    out, err = process.communicate(timeout=80)
    assert process.returncode == 0, err
    assert "heard and published once, in order" in out
    assert "\x1b[" not in out
    assert {"Anna", "Ben", "Carla", "小陈"} <= set(out.split())
    assert comes(lambda: left_running(tmp_path) == [], within_s=10), left_running(tmp_path)


@pytest.mark.timeout(90)
def test_a_killed_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    process = started(tmp_path)
    comes(lambda: left_running(tmp_path) or process.poll() is not None, within_s=40)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert comes(lambda: left_running(tmp_path) == [], within_s=10), left_running(tmp_path)
