"""A look now and then at Redis, the brokers and the parked partitions: a worker without words must know, too.

An operator releases a parked partition by a record in its ledger (``caesura unpark`` writes one that says nothing), so
that needs no Redis. Nothing else writes there while it is parked, but an operator who mends the ledger.
"""

from __future__ import annotations

from concurrent.futures import Future

from caesura.worker.errors import RetriableError
from caesura.worker.ports.observer import CallFailed
from caesura.worker.runtime.loop.assignment import Assignment
from caesura.worker.runtime.partition.positions import Positions
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.retries.parking import Parked, count_changed
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

_EVERY_S = 5.0
_FIRST_AFTER_S = 1.0
"""A look asks the brokers about each partition: the first words after a start come out before it."""


class Probe:
    """Asks for signs of life, measures positions, and hears an operator's release of parked partitions."""

    def __init__(
        self, parts: RuntimeAdapters, settings: RuntimeSettings, *, assignment: Assignment, faults: Faults
    ) -> None:
        self._store = parts.store
        self._executor = parts.saving
        self._ping: Future[None] | None = None
        self._reader = parts.reader
        self._ledger = settings.ledger
        self._ledger_ends: dict[int, int] = {}
        self._ends_after_s = 0.0
        self._observer = parts.observer
        self._source = parts.source
        self._clock = parts.clock
        self._assignment = assignment
        self._faults = faults
        self._timeout_s = settings.claim_timeout_s
        self._positions = Positions(
            source=parts.source,
            reader=parts.reader,
            clock=parts.clock,
            observer=parts.observer,
            timeout_s=settings.claim_timeout_s,
        )
        self._due_at_s: float | None = None

    def run(self, partitions: int) -> None:
        """Look, where it is time to. partitions: what was counted at the start; a change parks every partition."""
        now_s = self._clock.monotonic_s()
        self._hear_redis()
        waiting = self._assignment.parked.keys()
        self._ledger_ends = {partition: end for partition, end in self._ledger_ends.items() if partition in waiting}
        if self._ledger_ends.keys() != waiting and now_s >= self._ends_after_s:
            self._release()  # from here on a record counts
            self._ends_after_s = now_s + _EVERY_S
        if self._due_at_s is None:
            self._due_at_s = now_s + _FIRST_AFTER_S
        if now_s < self._due_at_s:
            return
        self._due_at_s = now_s + _EVERY_S
        counted = self._ask()
        if counted is None:
            return
        self._faults.cleared("poll")
        self._release()
        if counted != partitions:
            reason, detail = count_changed(partitions, counted)
            for partition in self._assignment.loaded:
                parked = Parked(partition=partition, reason=reason, detail=f"{detail}; see docs/operations.md")
                self._assignment.park(parked)

    def _ask(self) -> int | None:
        """Ask Redis and the brokers; return the input's partition count, None if no broker answered."""
        if self._ping is None:
            self._ping = self._executor.submit(self._store.ping)
            self._hear_redis()
        try:
            partitions = self._source.partition_count(self._timeout_s)
        except RetriableError as error:
            self._faults.failed("probe", error)
            return None
        try:
            waiting = [*self._assignment.claiming, *self._assignment.parked]
            self._positions.measure(self._assignment.loaded, waiting)
        except RetriableError as error:  # one partition's leader is away: that holds up nothing but the metrics
            self._faults.failed("probe", error)
        else:
            self._faults.cleared("probe")
        self._faults.input_held(self._positions.held)
        return partitions

    def _hear_redis(self) -> None:
        """Take the answer to the last ping, if it is there: it runs beside the loop, for Redis may be silent."""
        if self._ping is None or not self._ping.done():
            return
        ping, self._ping = self._ping, None
        try:
            ping.result()
        except RetriableError as error:  # work goes on without Redis
            self._observer.note(CallFailed.of("ping", error))

    def _release(self) -> None:
        """Claim parked partitions again whose ledger has a record more than when they were parked."""
        for partition in sorted(self._assignment.parked):
            try:
                _, end = self._reader.bounds(self._ledger, partition, self._timeout_s)
            except RetriableError as error:
                self._observer.note(CallFailed.of("release", error))
                return
            if end > self._ledger_ends.setdefault(partition, end):
                self._assignment.unpark(partition)
