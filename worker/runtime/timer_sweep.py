"""Fires the timers of loaded partitions, and lets no leader that is away hold the turn up for long.

A timer that is due without new input waits for its partition's leader to confirm the end of the log. A leader that
does not answer costs its time-out. Were every partition asked in the same turn, stalled brokers would hold the loop
for longer than liveness and the group allow.
"""

from __future__ import annotations

from collections.abc import Mapping

from worker.errors import RetriableError
from worker.ports.clock import Clock
from worker.runtime.faults import Faults
from worker.runtime.loaded_partition import LoadedPartition

__all__ = ["TimerSweep"]


class TimerSweep:
    """One walk over the partitions a turn. budget_s: a turn in which leaders took longer than this asks no more."""

    def __init__(self, *, clock: Clock, vitals: Faults, budget_s: float) -> None:
        self._clock = clock
        self._vitals = vitals
        self._budget_s = budget_s
        self._late_since_s: dict[int, float] = {}

    def tick(self, loaded: Mapping[int, LoadedPartition], most: int) -> int:
        """Fire timers that are due, of ``most`` sessions at most; return of how many.

        The turn's asking ends with the first leader that fails, or that brings it over its budget. That one is asked
        last from then on, the longest late before the others, until it has answered in time.
        """
        began_s = self._clock.monotonic_s()
        fired = 0
        for partition in sorted(loaded, key=lambda one: self._late_since_s.get(one, float("-inf"))):
            try:
                fired += loaded[partition].tick(most - fired)
            except RetriableError as error:  # the leader did not confirm the end: no timer fires on a guess
                self._vitals.failed("leader", error)
                self._late_since_s[partition] = self._clock.monotonic_s()
                return fired
            if self._clock.monotonic_s() - began_s > self._budget_s:
                self._late_since_s[partition] = self._clock.monotonic_s()
                return fired
            self._late_since_s.pop(partition, None)
        self._vitals.mended("leader")
        return fired
