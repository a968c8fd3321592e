"""Processes forked from one that has imported the worker: they start in milliseconds, and commands need no second."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import iter_modules

from caesura.worker import commands
from tests.harness.places import ROOT

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(
    [
        *("caesura.worker.app", "caesura.worker.cli", "tests.harness.running"),
        *(f"caesura.worker.commands.{found.name}" for found in iter_modules(commands.__path__)),
    ]
)


class Forked:
    """A function that runs in another process. Its output can be read meanwhile.

    environ: the environment of the process, this one's if not given. given: its standard input.
    """

    def __init__(
        self,
        function: Callable[..., object],
        *arguments: object,
        environ: Mapping[str, str] | None = None,
        given: str = "",
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="caesura-forked-")
        for name, text in (("stdin", given), ("stdout", ""), ("stderr", "")):
            (Path(self._folder.name) / name).write_text(text)
        passed = (self._folder.name, dict(os.environ if environ is None else environ), function, arguments)
        self._process = FORKING.Process(target=_run, args=passed, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def stdout(self) -> str:
        return (Path(self._folder.name) / "stdout").read_text(errors="replace")

    @property
    def stderr(self) -> str:
        return (Path(self._folder.name) / "stderr").read_text(errors="replace")

    @property
    def lives(self) -> bool:
        return self._process.is_alive()

    @property
    def is_stopped(self) -> bool:
        """Whether a SIGSTOP holds it."""
        status = Path(f"/proc/{self.pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] == "T"

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self, *, timeout_s: float = 60.0) -> int:
        """Stop it in good order and return its exit status. TimeoutError."""
        self.send_signal(signal.SIGTERM)
        return self.wait(timeout_s=timeout_s)

    def ends(self, *, timeout_s: float) -> bool:
        """Wait for it to end by itself; whether it has."""
        self._process.join(timeout_s)
        return not self.lives

    def wait(self, *, timeout_s: float = 120.0) -> int:
        """Wait until it has ended by itself; minus the signal's number where one killed it. TimeoutError."""
        if not self.ends(timeout_s=timeout_s):
            self.send_signal(signal.SIGUSR1)  # a worker writes where it stands to standard error
            time.sleep(1.0)
            raise TimeoutError(f"not ended within {timeout_s:g} s: {self.stderr[-3000:]}")
        assert self._process.exitcode is not None
        return self._process.exitcode

    def kill(self) -> None:
        """Kill it if it still lives."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """Kill it if it still lives, and hand on its standard error, for a test that failed."""
        self.kill()
        sys.stderr.write(self.stderr)
        self._folder.cleanup()


def command(*arguments: str, environ: Mapping[str, str], given: str = "") -> Forked:
    """Start ``caesura`` with these arguments."""
    return Forked(_caesura, *arguments, environ=environ, given=given)


def _run(folder: str, environ: Mapping[str, str], function: Callable[..., object], arguments: tuple[object]) -> None:
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environ)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if name == "stdin" else os.O_WRONLY | os.O_APPEND
        os.dup2(os.open(Path(folder) / name, flags), number)
        setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))
    function(*arguments)


def _caesura(*arguments: str) -> None:
    from caesura.worker.cli import main  # noqa: PLC0415  # most functions that run apart do not need it

    sys.argv = ["caesura", *arguments]
    main()
