"""The workers under chaos: each a process that cannot outlive the runner, started again whenever it ends."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.chaos.changes import FIRST_VERSION, RULE_SETS
from tests.chaos.fleet_member import LOOK_EVERY_S, Member
from tests.chaos.member import FENCED
from tests.harness.pipeline import Pipeline
from tests.harness.places import ROOT
from tests.harness.waiting import comes

_RESTART_WAIT_S = 0.3
_STOPPED_WITHIN_S = 40.0
_KILLED = {-signal.SIGKILL, 128 + signal.SIGKILL}
_EXPECTED_ENDS = {0, FENCED, *_KILLED}


class Fleet:
    """All places. version: of the models that are active. ``close`` ends every process; so does the end of this one.

    module: what a worker's process runs. before: the folder of another release, which every other place runs.
    """

    def __init__(
        self,
        pipelines: list[Pipeline],
        redis: dict[str, object],
        folder: Path | None = None,
        module: str = "tests.chaos.member",
        before: Path | None = None,
    ) -> None:
        self._own_folder = tempfile.TemporaryDirectory(prefix="caesura-chaos-")
        self.folder = folder or Path(self._own_folder.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.members = [
            Member(
                pipeline.ordinal,
                {"pipeline": pipeline.as_json(), "redis": redis},
                self.folder,
                module,
                before if before is not None and pipeline.ordinal % 2 else ROOT,
            )
            for pipeline in pipelines
        ]
        self.version = FIRST_VERSION
        self.ends: Counter[str] = Counter()
        self.tails: list[str] = []
        self._closing = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, name="supervisor", daemon=True)

    def start(self, count: int) -> None:
        """Start the first ``count`` members; the others join when they are wanted."""
        for member in self.members[:count]:
            member.wanted = True
        self._supervisor.start()

    def holders(self) -> dict[int, Member]:
        """Return who works on which partition, as far as the diaries say."""
        return {partition: member for member in self.members for partition in member.held()}

    def parked(self) -> dict[int, str]:
        """Return which partitions are parked, and why, as far as the diaries say."""
        return {partition: reason for member in self.members for partition, reason in member.parked().items()}

    def happened(self) -> dict[str, int]:
        """Return how often what happened in the workers, as far as the diaries say: claims by verdict, rebuilds."""
        self.holders()
        return dict(sum((member.happened for member in self.members), Counter()))

    def change_rules(self, number: int) -> None:
        """Have the workers decode by other rules, one after another: see ``tests.chaos.changes``."""
        self._roll_out({"rules": RULE_SETS[number]})

    def change_model(self, *, keeps_former: bool) -> None:
        """Have the workers label by the next version of the model, and keep the one before it loaded or not."""
        self.version += 1
        self._roll_out({}, models=[self.version, self.version - 1] if keeps_former else [self.version])

    def _roll_out(self, pipeline: Mapping[str, Mapping[str, object]], **more: object) -> None:
        for member in self.members:
            member.configure(pipeline, **more)
        for member in self.members:
            with member.busy:
                if member.wanted and member.lives:
                    self.await_(lambda one=member: one.pid is not None or not one.lives, _STOPPED_WITHIN_S)  # type: ignore[misc]
                    member.signal(signal.SIGTERM)
                    if not member.await_end(_STOPPED_WITHIN_S):
                        raise RuntimeError(f"worker {member.ordinal} did not end within {_STOPPED_WITHIN_S} s")

    def claim_anew(self, partitions: int, timeout_s: float) -> bool:
        """End all workers in good order, so that those after them claim every partition; tell whether they have.

        Each is to hold one: one that is only starting would not hear that it is to stop.
        """
        running = [member for member in self.members if member.wanted and member.lives]
        for member in running:
            with member.busy:
                member.stop(leaves=False)
        holding = min(len(running), partitions)
        return self.await_(
            lambda: len(self.holders()) == partitions and sum(bool(one.held()) for one in running) >= holding, timeout_s
        )

    def stop(self, timeout_s: float) -> list[str]:
        """Stop all members in good order; return a complaint for each that did not end well."""
        self._closing.set()
        self._supervisor.join()
        running = [member for member in self.members if member.lives]
        for member in running:
            member.signal(signal.SIGTERM)
        complaints = []
        for member in running:
            if not member.await_end(timeout_s):
                complaints.append(f"member {member.ordinal} did not end within {timeout_s} s")
            elif member.exit_status != 0:
                complaints.append(f"member {member.ordinal} ended with {member.exit_status}: {member.log_tail()}")
        return complaints

    def close(self) -> None:
        """Kill whatever still runs."""
        self._closing.set()
        if self._supervisor.is_alive():
            self._supervisor.join()
        for member in self.members:
            member.kill()
        self._own_folder.cleanup()

    def await_(self, done: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until something holds of the fleet; tell whether it does."""
        return comes(done, within_s=timeout_s, every_s=LOOK_EVERY_S)

    def _supervise(self) -> None:
        """Start whoever is wanted and does not run, and count how they ended."""
        down: dict[int, int | None] = {}
        while not self._closing.wait(LOOK_EVERY_S):
            for member in self.members:
                if member.lives:
                    down.pop(member.ordinal, None)
                    continue
                if member.ordinal not in down:
                    down[member.ordinal] = member.exit_status
                    self._note_end(member)
                if member.wanted and time.monotonic() >= member.not_before_s:
                    member.start()

    def _note_end(self, member: Member) -> None:
        status = member.exit_status
        if status is None:
            return
        self.ends[str(status)] += 1
        if status not in _EXPECTED_ENDS:
            self.tails.append(f"member {member.ordinal} ended with {status}\n{member.log_tail()}")
        if status not in _KILLED:  # one that ends by itself must not start and end without a pause
            member.not_before_s = max(member.not_before_s, time.monotonic() + _RESTART_WAIT_S)
