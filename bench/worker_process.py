"""``caesura worker`` in a process of its own, on a world's topics: what it costs, and what it holds in memory.

Processor time and memory are the kernel's of both processes, the worker's and its engine's, every thread; time in
ticks of 10 ms.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from caesura.worker.sizing.resident_memory import resident_bytes
from caesura.worker.sizing.speech import SPOKEN
from tests.harness.real_world import RealWorld

ROOT = Path(__file__).resolve().parents[1]
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_START = "from caesura.worker.cli import main; main()"
_START_BEFORE_MOVE = "from worker.cli import main; main()"
"""Of a commit whose modules have the names of before: ``caesura.worker`` would be today's, as it is installed."""


def add_spoken_options(parser: ArgumentParser) -> None:
    """Add what is spoken, and by which model it is labelled."""
    parser.add_argument("--language", choices=SPOKEN, default="en", help="what is spoken")
    parser.add_argument("--model", help="id of the model that is active, where it is another than the shipped one")


def as_spoken(options: Namespace) -> str:
    """Return what a command says of these options, behind all else."""
    language = f" --language {options.language}" if options.language != "en" else ""
    return language + (f" --model {options.model}" if options.model else "")


def choosing(model: str | None) -> dict[str, object]:
    """Return the setting that chooses a model by its id; none, where the manifests choose."""
    return {"worker.active_models": json.dumps([model])} if model else {}


class WorkerProcess:
    """A worker, and a context manager: one that still runs in the end is killed.

    code: the root of the sources that it runs, another commit's perhaps. cpus: those it may run on. program: what
    Python runs in place of the command line ``caesura``, its arguments behind it.
    """

    def __init__(
        self,
        world: RealWorld,
        *,
        ordinal: int = 0,
        code: Path = ROOT,
        cpus: Collection[int] = (),
        program: Sequence[str] | None = None,
        settings: Mapping[str, object] | None = None,
        log: IO[bytes] | None = None,
    ) -> None:
        chosen: dict[str, object] = {
            "kafka.bootstrap_servers": world.kafka.bootstrap,
            "redis.addresses": world.redis_url.partition("//")[2].partition("/")[0],
            "worker.deployment": world.deployment,
            "worker.ordinal": ordinal,
            "worker.input_topic": world.words_topic,
            "worker.segment_topic": world.segments_topic,
            "worker.dead_letter_topic": world.dead_topic,
            "worker.http_port": 0,
            **(settings or {}),
        }
        flags = [part for name, value in chosen.items() for part in ("--set", f"{name}={value}")]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
        moved = (code / "caesura" / "worker").exists()
        program = program or ("-c", _START if moved else _START_BEFORE_MOVE)
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, *program, "worker", *flags],
            cwd=code,
            env=clean | {"PYTHONPATH": str(code)},
            stdout=subprocess.DEVNULL if log is None else log,
        )
        try:
            if cpus:
                os.sched_setaffinity(self._process.pid, cpus)  # at once: threads made later inherit it
        except OSError:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.kill()

    def require_running(self) -> None:
        """Raise RuntimeError where it has ended by itself: nobody need wait for what it would have said."""
        if (status := self._process.poll()) is not None:
            raise RuntimeError(f"the worker has ended, its exit status is {status}")

    @property
    def cpu_s(self) -> float:
        """Processor seconds so far."""
        return family_cpu_s(self._process.pid)

    @property
    def resident_bytes(self) -> int:
        """Memory that is resident now."""
        return sum(resident_bytes(one) for one in (self._process.pid, *_children(self._process.pid)))

    def finish(self, timeout_s: float = 60.0) -> float:
        """Stop it in good order, and return the processor seconds of its whole life."""
        self._process.send_signal(signal.SIGTERM)
        return self._ended(timeout_s)

    def kill(self) -> float:
        """Kill it as a crash would, and return the processor seconds of its whole life."""
        self._process.kill()
        return self._ended(60.0)

    def _ended(self, timeout_s: float) -> float:
        spent_s = _children_s()
        self._process.wait(timeout_s)
        return _children_s() - spent_s


def require_all_running(workers: Iterable[WorkerProcess]) -> None:
    """Raise RuntimeError where one of them has ended by itself."""
    for one in workers:
        one.require_running()


def wait_until_joined(world: RealWorld, workers: Sequence[WorkerProcess]) -> None:
    """Wait until all hold partitions, their models warm. RuntimeError: one has ended; AssertionError: they never do."""
    world.wait_for_members(len(workers), turning=lambda: require_all_running(workers))


def family_cpu_s(pid: int) -> float:
    """Return the processor seconds of a process and of its children, those that ended and were waited for included."""
    ticks = 0
    for one in (pid, *_children(pid)):
        fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks * _TICK_S


def _children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(one) for thread in threads for one in (thread / "children").read_text(encoding="ascii").split()]


def _children_s() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system
