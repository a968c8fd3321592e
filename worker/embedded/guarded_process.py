"""A server of ours as a child process that cannot outlive us: the demo's Redis, the tests' Kafka.

A shell stands between: it holds the reading end of a pipe whose writing end is this process's. However this process
ends, SIGKILL included, the pipe closes and the shell kills its child.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import signal
import socket
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

_LOOPBACK = "127.0.0.1"
_PORTS = range(27_000, 32_768)
_given: dict[int, socket.socket] = {}
"""What was given, each with the socket that keeps it from other processes of ours."""

_STOP_S = 10.0
_ENDED = "ZX"
_AT_REST: dict[int, str] = {signal.SIGSTOP: "Tt" + _ENDED, signal.SIGKILL: _ENDED}
"""The states of threads, as Linux tells them, that a signal is to bring about."""

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


def free_port(ports: range = _PORTS) -> int:
    """Return a TCP port of the loopback interface that is free and not yet promised to another server of ours.

    A server needs seconds to take its port. Until then the promise must hold, also in other processes: so the process
    that is given a port holds the UDP port of the same number as long as it lives. Above 32,767 systems take ports for
    outgoing connections, and one may sit on it while its owner is restarted.
    """
    while True:
        port = random.choice(ports)  # noqa: S311 - no secret
        if port in _given:
            continue
        with contextlib.ExitStack() as on_refusal, contextlib.suppress(OSError):
            kept = on_refusal.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            kept.bind((_LOOPBACK, port))
            with socket.socket() as probe:
                probe.bind((_LOOPBACK, port))
            on_refusal.pop_all()
            _given[port] = kept
            return port


@atexit.register
def _give_back() -> None:
    while _given:
        _given.popitem()[1].close()


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
        """End the child at once, as a crash would; harmless if it has ended, even if its process id is in use again.

        It returns when all of the group have ended: until then a server's port is taken.
        """
        with contextlib.suppress(TimeoutError):
            self.signal(signal.SIGKILL)
        self._shell.wait()
        if self._shell.stdin is not None:
            self._shell.stdin.close()
        _RUNNING.discard(self)

    def signal(self, number: int) -> None:
        """Send a signal to the whole group, for example SIGSTOP and SIGCONT.

        A server's threads run on for some milliseconds after SIGSTOP was sent (12 were seen), long enough to answer:
        it returns when all have stopped, and after SIGKILL when all have ended. TimeoutError where they do not.
        """
        if not self.alive:
            return  # from when that is known, its number may be another's
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, number)
        if number in _AT_REST:
            self._wait_until(_AT_REST[number], f"signal {number}")

    def _wait_until(self, at_rest: str, what: str) -> None:
        deadline = time.monotonic() + _STOP_S
        while running := [thread for thread, state in _threads(self._shell.pid) if state not in at_rest]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"threads {', '.join(running)} go on {_STOP_S} s after {what}")
            time.sleep(0.001)


def _threads(group: int) -> list[tuple[str, str]]:
    """Return (thread, state) of each thread of a process group, as Linux tells them."""
    return [
        (thread.name, state)
        for process in Path("/proc").glob("[0-9]*")
        if _status(process)[2:3] == [str(group)]
        for thread in (process / "task").glob("*")
        for state in _status(thread)[:1]
    ]


def _status(place: Path) -> list[str]:
    """Return state, parent, group and more of a process or thread; nothing where it has just ended."""
    try:
        return (place / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


_RUNNING: weakref.WeakSet[GuardedProcess] = weakref.WeakSet()


@atexit.register
def _kill_all() -> None:
    for process in list(_RUNNING):
        process.kill()
