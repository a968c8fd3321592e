"""The command ``caesura`` in a process of its own, and what it may have left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.harness.places import ROOT

__all__ = ["CAESURA", "caesura", "left_running"]

CAESURA = (sys.executable, "-c", "from worker.cli import main; main()")
"""How a test starts the command: its arguments follow."""


def caesura(*arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command with nothing of ours in the environment but ``variables``; 60 s at most."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
    return subprocess.run(
        [*CAESURA, *arguments],
        cwd=ROOT,
        env=clean | {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"} | variables,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
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
