"""A server of ours as a child process that cannot outlive us: the demo's Redis, the tests' Kafka.

A shell stands between: it holds the reading end of a pipe whose writing end is this process's. However this process
ends, SIGKILL included, the pipe closes and the shell kills its child.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["GuardedProcess", "free_port"]

_GUARD = """
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
trap 'kill -TERM $child' TERM
(trap - TERM; read -r _ <&3; kill -KILL $child) &
watch=$!
code=0
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
kill $watch 2>/dev/null
exit $code
"""


def free_port(max_port: int = 65_535) -> int:
    """Return a TCP port of the loopback interface that was free just now, at most ``max_port``."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port <= max_port:
            return port


class GuardedProcess:
    """A running child with its own process group; its output goes to a file."""

    def __init__(self, command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None) -> None:
        self._log = log
        with log.open("ab") as output:
            self._shell = subprocess.Popen(  # noqa: S603  # our own command line, no shell text from outside
                ["/bin/sh", "-c", _GUARD, "guard", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=None if env is None else dict(env),
                start_new_session=True,
            )
        _RUNNING.add(self)

    @property
    def alive(self) -> bool:
        """Whether the child still runs."""
        return self._shell.poll() is None

    @property
    def exit_status(self) -> int | None:
        """How the child ended, 128 + the number where a signal ended it; None while it runs."""
        return self._shell.poll()

    def log_tail(self, max_lines: int = 20) -> str:
        """Return the last lines that the child wrote."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-max_lines:])

    def terminate(self, timeout_s: float = 10.0) -> None:
        """Ask the child to end; kill it where it has not after ``timeout_s``."""
        if self.alive:
            self._shell.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._shell.wait(timeout_s)
        self.kill()

    def kill(self) -> None:
        """End the child at once, as a crash would; harmless where it has ended."""
        self.signal(signal.SIGKILL)
        self._shell.wait()
        if self._shell.stdin is not None:
            self._shell.stdin.close()
        _RUNNING.discard(self)

    def signal(self, number: int) -> None:
        """Send a signal to the whole group, for example SIGSTOP and SIGCONT."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, number)


_RUNNING: weakref.WeakSet[GuardedProcess] = weakref.WeakSet()


@atexit.register
def _kill_all() -> None:
    for process in list(_RUNNING):
        process.kill()
