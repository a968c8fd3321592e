"""A worker in a process of its own, to be stopped, killed and listened to."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.harness.command import started
from tests.harness.pipeline import Pipeline, build
from tests.harness.places import ROOT


class Told:
    """A file that another process writes to, and that can be read meanwhile."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process; ``close``)

    def read(self) -> str:
        """Return what is written so far.

        The offset stays where it is: the other process has it from this one, and would write over what it wrote before.
        """
        number = self.file.fileno()
        return os.pread(number, os.fstat(number).st_size, 0).decode(errors="replace")

    def close(self) -> None:
        self.file.close()


class Process:
    """A worker in another process."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._told = Told()
        self._running = ExitStack()
        self._process = self._running.enter_context(
            started(
                sys.executable,
                "-m",
                "tests.harness.running",
                environ={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stderr=self._told.file,
            )
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(pipeline.as_json()))
        self._process.stdin.close()

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    @property
    def told(self) -> str:
        """What the worker has told so far of its checkpoints, claims and rebalances."""
        return self._told.read()

    @property
    def is_stopped(self) -> bool:
        """Whether a SIGSTOP holds it."""
        status = Path(f"/proc/{self._process.pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] == "T"

    def terminate(self, *, timeout_s: float = 60.0) -> int:
        """Stop it in good order and return its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout_s)

    def ends(self, *, timeout_s: float) -> bool:
        """Wait for it to end by itself; whether it has."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def wait(self, *, timeout_s: float = 120.0) -> int:
        """Wait until it has ended by itself; minus the signal's number where one killed it."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGUSR1)  # it writes where it stands to standard error
            time.sleep(1.0)
            raise

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Kill it if it still lives, and hand on what it told, for a test that failed."""
        self._process.kill()
        self._running.close()
        sys.stderr.write(self.told)
        self._told.close()


def main() -> None:
    pipeline = Pipeline(**json.load(sys.stdin))
    faulthandler.register(signal.SIGUSR1)  # a test that waits in vain asks where every thread stands
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    _, worker = build(pipeline)
    worker.run(stopping.is_set)


if __name__ == "__main__":
    main()


GROUP_PROTOCOLS = ["classic", pytest.param("consumer", marks=pytest.mark.long)]
"""Values of ``group_protocol`` for tests of what does not depend on it; those of a seam step run under both always."""
