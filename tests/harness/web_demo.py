"""``caesura demo --web`` in a process of its own, and the address of its page."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.command import CAESURA, started

__all__ = ["web_demo"]


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
