"""Where the output goes wrong: its reader has gone, or its disk is full."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.places import ROOT


def shell(line: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-o", "pipefail", "-c", line.replace("caesura", f"{sys.executable} -m caesura", 1)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_a_reader_that_has_enough_is_no_failure() -> None:
    done = shell("caesura settings --markdown | head -1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk_is_told_in_a_line() -> None:
    done = shell("caesura settings --markdown >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "caesura: the output cannot be written: No space left on device\n"
