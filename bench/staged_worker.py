"""``caesura worker`` with its processor time told by stage: what ``bench.cost_split`` runs.

    python -m bench.staged_worker FILE STAGE,STAGE worker --set ...

The methods of these ``STAGES`` are timed by the clock of the loop's thread, each without what it calls of another
stage, so that they add up to the thread's whole time; ``loop`` is what is in none of them. ``network`` has the time of
the engine's process too, in ticks of 10 ms. Before the first record is polled all of both processes' time is
``start``. What other threads spend is the Kafka clients' (``client_threads``). What the timing itself costs is in the
figures, and measured before.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.worker_process import family_cpu_s
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.onnx.child_engine import ChildEngine
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.cli import main as command_line
from caesura.worker.ports.records import Record
from caesura.worker.runtime.loop.labelling import Labelling
from caesura.worker.runtime.partition import record_admission
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.telemetry.observer import TelemetryObserver

STAGES: dict[str, tuple[tuple[object, str], ...]] = {
    "poll": ((KafkaWordSource, "poll"),),
    "decode": ((record_admission, "read_event"),),
    "core": ((LoadedPartition, "take"), (LoadedPartition, "tick"), (Labelling, "run")),
    "network": ((ChildEngine, "label"),),
    "snapshots": ((LoadedPartition, "stage"), (LoadedPartition, "adopt")),
    "redis": ((RedisSessionStore, "write"),),
    "publish": ((KafkaPublisher, "begin"), (KafkaPublisher, "publish")),
    "commit": ((KafkaPublisher, "send_offsets"), (KafkaPublisher, "commit")),
    "telemetry": ((TelemetryObserver, "note"),),
}
"""What is timed, by stage: a class or a module, and the name of a function in it."""


class StageClock:
    """Adds up a thread's processor time by stage. Calls from other threads are passed on untimed."""

    def __init__(self, clock: Callable[[], float] = time.thread_time, stages: Iterable[str] = STAGES) -> None:
        self._clock = clock
        self._thread = threading.get_ident()
        self._stack = ["loop"]
        self._last_s = clock()
        self.spent_s: dict[str, float] = {"loop": 0.0, **dict.fromkeys(stages, 0.0)}
        self.calls: dict[str, int] = dict.fromkeys(stages, 0)

    def timed(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call, its time taken for ``stage``."""

        @functools.wraps(call)
        def counted(*given: object, **named: object) -> object:
            if threading.get_ident() != self._thread:
                return call(*given, **named)
            self._lap()
            self._stack.append(stage)
            self.calls[stage] += 1
            try:
                return call(*given, **named)
            finally:
                self._lap()
                self._stack.pop()

        return counted

    def begin(self) -> None:
        """Forget what was spent so far."""
        self._lap()
        self.spent_s = dict.fromkeys(self.spent_s, 0.0)
        self.calls = dict.fromkeys(self.calls, 0)

    def told(self) -> dict[str, float]:
        """Return the seconds by stage until now."""
        self._lap()
        return dict(self.spent_s)

    def cost_s(self, calls: int = 20_000) -> float:
        """Return what timing one call costs, measured by so many that do nothing."""

        def nothing() -> None:
            pass

        stage = next(iter(self.calls))
        timed = StageClock(self._clock, (stage,)).timed(stage, nothing)
        begun_s = self._clock()
        for _ in range(calls):
            timed()
        timed_s = self._clock()
        for _ in range(calls):
            nothing()
        return max(0.0, (timed_s - begun_s) - (self._clock() - timed_s)) / calls

    def _lap(self) -> None:
        now_s = self._clock()
        self.spent_s[self._stack[-1]] += now_s - self._last_s
        self._last_s = now_s


def main() -> None:
    """Run the command line that follows the file's name and the stages, timed; write the file at its end."""
    file, stages, sys.argv = Path(sys.argv[1]), sys.argv[2].split(","), ["caesura", *sys.argv[3:]]
    clock = StageClock(stages=stages)
    cost_s = clock.cost_s()
    for stage in stages:
        for owner, name in STAGES[stage]:
            setattr(owner, name, clock.timed(stage, getattr(owner, name)))
    start_s: list[tuple[float, float]] = []
    poll = KafkaWordSource.poll

    def first_noticed(source: KafkaWordSource, max_records: int, timeout_s: float) -> Sequence[object]:
        items = poll(source, max_records, timeout_s)
        if not start_s and any(isinstance(item, Record) for item in items):
            start_s.append((time.process_time(), _engine_s()))
            clock.begin()
        return items

    setattr(KafkaWordSource, "poll", first_noticed)  # noqa: B010 - a method is replaced
    try:
        command_line()
    finally:
        spent, whole_s, engine_s = clock.told(), time.process_time(), _engine_s()
        begun_s, engine_began_s = start_s[0] if start_s else (whole_s, engine_s)
        threads_s = whole_s - begun_s - sum(spent.values())
        spent["network" if "network" in spent else "loop"] += engine_s - engine_began_s
        told = {
            "start_s": begun_s + engine_began_s,
            "whole_s": whole_s + engine_s,
            "stages_s": spent,
            "client_threads_s": threads_s,
            "calls": clock.calls,
            "timing_s": cost_s * sum(clock.calls.values()),
        }
        file.write_text(json.dumps(told), encoding="utf-8")


def _engine_s() -> float:
    """Return the processor seconds of the engine's process, the only child; one that has ended included."""
    own = os.times()
    return family_cpu_s(os.getpid()) - own.user - own.system


if __name__ == "__main__":
    main()
