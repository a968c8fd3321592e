"""``caesura demo`` without a terminal: every word published, exit 0, and nothing of it left running."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.harness.command import CAESURA, left_running, started
from tests.harness.waiting import comes

COMMAND = [*CAESURA, "demo", "--speed", "4"]


@contextmanager
def demo(folder: Path) -> Iterator[subprocess.Popen[str]]:
    environ = os.environ | {"TMPDIR": str(folder), "COLUMNS": "100"}
    with started(*COMMAND, environ=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        yield process


@pytest.mark.timeout(90)
def test_the_demo_publishes_every_word_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert "heard and published once, in order" in out
    assert "\x1b[" not in out
    assert {"Anna", "Ben", "Carla", "小陈"} <= set(out.split())
    assert comes(lambda: left_running(tmp_path) == [], within_s=60), left_running(tmp_path)


@pytest.mark.timeout(90)
def test_a_killed_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        comes(lambda: left_running(tmp_path) or process.poll() is not None, within_s=40)
        process.kill()
        process.communicate(timeout=60)
    assert comes(lambda: left_running(tmp_path) == [], within_s=60), left_running(tmp_path)
