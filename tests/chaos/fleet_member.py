"""One worker's place in the fleet under chaos: its processes, one after another, and what its diary says of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from caesura.worker.embedded.guarded_process import GuardedProcess
from tests.harness.waiting import comes

LOOK_EVERY_S = 0.1


class Member:
    """One worker's place in the fleet: a number, and the process that has it now, if any."""

    def __init__(self, ordinal: int, config: Mapping[str, object], folder: Path, module: str, root: Path) -> None:
        self.ordinal = ordinal
        self._module = module
        self._root = root
        self.wanted = False
        self.busy = threading.Lock()
        self.not_before_s = 0.0
        self._config = folder / f"member-{ordinal}.json"
        self._given = dict(config)
        self._config.write_text(json.dumps(config))
        self._diary = folder / f"member-{ordinal}.log"
        self._read_to = 0
        self._reading = threading.RLock()
        self._held: set[int] = set()
        self._parked: dict[int, str] = {}
        self.happened: Counter[str] = Counter()
        self._pid: int | None = None
        self._process: GuardedProcess | None = None

    @property
    def lives(self) -> bool:
        return self._process is not None and self._process.alive

    @property
    def pid(self) -> int | None:
        """The worker's process; None where it has not said so yet."""
        self.held()
        return self._pid if self.lives else None

    @property
    def exit_status(self) -> int | None:
        """How the process ended; None where it lives or never was."""
        return None if self._process is None or self._process.alive else self._process.exit_status

    def configure(self, pipeline: Mapping[str, Mapping[str, object]], **more: object) -> None:
        """Have every process that is started from now on built otherwise. pipeline: what changes within its fields."""
        given = cast("dict[str, dict[str, object]]", self._given["pipeline"])
        changed = {name: {**given[name], **change} for name, change in pipeline.items()}
        self._given = {**self._given, "pipeline": {**given, **changed}, **more}
        whole = self._config.with_suffix(".new")
        whole.write_text(json.dumps(self._given))
        whole.replace(self._config)

    def start(self) -> None:
        """Start a process for this place; what is left of the one before it goes."""
        self.kill()
        self._held.clear()
        self._parked.clear()
        self._pid = None
        command = [sys.executable, "-m", self._module, str(self._config)]
        environment = {
            **os.environ,
            # Not the folder that the runner stands in: a release before this one comes from its own.
            "PYTHONPATH": str(self._root),
            "PYTHONSAFEPATH": "1",
            "PYTHONUNBUFFERED": "1",
            # Bytecode is kept between starts, as it is where the worker is installed.
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(self._config.with_name("bytecode")),
        }
        self._process = GuardedProcess(command, log=self._diary, env=environment)

    def signal(self, number: int) -> None:
        """Send the worker itself a signal: its guard must go on, so that it cannot outlive us."""
        self.held()
        if self.lives and self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, number)

    def held(self) -> frozenset[int]:
        """Return the partitions that its diary says it works on."""
        if not self._diary.exists():
            return frozenset()
        with self._reading, self._diary.open("rb") as diary:
            diary.seek(self._read_to)
            for line in diary:
                if not line.endswith(b"\n"):
                    break
                self._read_to += len(line)
                # A process that died in the midst of a line leaves its half before the next one's first entry.
                with contextlib.suppress(ValueError):
                    self._heed(json.loads(line[line.find(b"{") :]))
        return frozenset(self._held) if self.lives else frozenset()

    def _heed(self, entry: dict[str, object]) -> None:
        match entry:
            case {"what": "born", "pid": int(pid)}:
                self._pid = pid
                self._held.clear()
                self._parked.clear()
            case {"what": "claimed", "partition": int(partition), "verdict": str(verdict)}:
                self._held.add(partition)
                self._parked.pop(partition, None)
                self.happened[f"claims found {verdict}"] += 1
            case {"what": "rebuilt" | "took_over" as what}:
                self.happened[what] += 1
            case {"what": "revoked" | "lost", "partitions": list(partitions)}:
                self._held.difference_update(partitions)
                for partition in partitions:
                    self._parked.pop(partition, None)
            case {"what": "parked", "partition": int(partition), "reason": str(reason)}:
                self._held.discard(partition)
                self._parked[partition] = reason
                self.happened[f"parked: {reason}"] += 1

    def parked(self) -> dict[int, str]:
        """Return the partitions that its diary says it has parked, and why."""
        self.held()
        return dict(self._parked) if self.lives else {}

    def kill(self) -> None:
        """End the process, its guard too."""
        if self._process is not None:
            self._process.kill()

    def await_end(self, timeout_s: float) -> bool:
        """Wait until the process that runs now has ended by itself; tell whether it has."""
        process = self._process
        return comes(lambda: process is None or not process.alive, within_s=timeout_s, every_s=LOOK_EVERY_S)

    def log_tail(self) -> str:
        return "" if self._process is None else self._process.log_tail(40)

    def crash(self, away_s: float) -> None:
        """Kill the worker; its place stays empty for so long at least."""
        self.not_before_s = time.monotonic() + away_s
        self.signal(signal.SIGKILL)
        self.await_end(10)

    def pause(self, pause_s: float) -> None:
        """Have the worker stand still for so long."""
        self.signal(signal.SIGSTOP)
        try:
            time.sleep(pause_s)
        finally:
            self.signal(signal.SIGCONT)

    def stop(self, *, leaves: bool) -> None:
        """Stop the worker in good order; RuntimeError where it does not end, and it is killed then."""
        if leaves:
            self.wanted = False
        self.signal(signal.SIGTERM)
        if not self.await_end(40):
            self.signal(signal.SIGKILL)
            raise RuntimeError(f"worker {self.ordinal} did not end within 40 s of SIGTERM")
