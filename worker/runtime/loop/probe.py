"""Checks Redis, the brokers and the parked partitions every few seconds, beside the loop, also if no words come.

``caesura unpark`` writes a no-op record to the ledger of a parked partition, so a release needs no Redis. While a
partition is parked, only an operator writes to its ledger, so the probe releases it when the ledger has grown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from typing import NamedTuple

from caesura.worker.errors import RetriableError
from caesura.worker.ports.observer import CallFailed, SessionsCounted
from caesura.worker.runtime.loop.assignment import Assignment
from caesura.worker.runtime.loop.question import Question
from caesura.worker.runtime.partition.positions import MeasuredPositions, Positions
from caesura.worker.runtime.partition.read_position import ReadPosition
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.retries.parking import Parked, count_changed
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

_EVERY_S = 5.0
_FIRST_AFTER_S = 1.0
"""A look asks the brokers about each partition: the first words after a start come out before it."""


class _Look(NamedTuple):
    """partitions: of the input. poll_faults: how many there were when the brokers were asked."""

    partitions: int
    poll_faults: int
    measured: MeasuredPositions


class _LedgerEnds(NamedTuple):
    """Ends of the ledgers of parked partitions. fault: of one that did not answer."""

    ends: dict[Parked, int]
    fault: RetriableError | None


class Probe:
    """Checks that Redis and brokers answer, measures positions, and notices when an operator releases a partition."""

    def __init__(
        self, parts: RuntimeAdapters, settings: RuntimeSettings, *, assignment: Assignment, faults: Faults
    ) -> None:
        self._store = parts.store
        self._reader = parts.reader
        self._ledger = settings.ledger
        self._observer = parts.observer
        self._source = parts.source
        self._clock = parts.clock
        self._assignment = assignment
        self._faults = faults
        self._timeout_s = settings.claim_timeout_s
        self._positions = Positions(parts, timeout_s=settings.claim_timeout_s)
        self._ping: Question[None] = Question(parts.asking)
        self._look: Question[_Look] = Question(parts.asking)
        self._bounds: Question[_LedgerEnds] = Question(parts.asking)
        self._due_at_s: float | None = None
        self._ledger_ends: dict[Parked, int] = {}
        self._bounds_asked: frozenset[Parked] = frozenset()
        self._bounds_due_s = 0.0

    def run(self, partitions: int) -> None:
        """Take the answers that have come, and ask the next questions. Does not block.

        partitions: the count at the start; another count parks every partition.
        """
        self._hear_ping()
        self._hear_look(partitions)
        self._hear_bounds()
        now_s = self._clock.monotonic_s()
        if self._due_at_s is None:
            self._due_at_s = now_s + _FIRST_AFTER_S
        if now_s >= self._due_at_s:
            self._due_at_s = now_s + _EVERY_S
            self._ping.ask(self._store.ping)
            self._ask_brokers()
        self._ask_bounds(now_s)

    def _ask_brokers(self) -> None:
        """Ask the brokers. The state of loaded partitions is copied, because they go on meanwhile."""
        places: dict[int, ReadPosition | None] = dict.fromkeys([*self._assignment.claiming, *self._assignment.parked])
        for number, loaded in self._assignment.loaded.items():
            places[number] = copy(loaded.position)
            by_status = {status.value: count for status, count in loaded.sessions.statuses().items()}
            self._observer.note(SessionsCounted(partition=number, by_status=by_status))
        poll_faults = self._faults.times("poll")
        self._look.ask(lambda: self._looked(places, poll_faults))

    def _looked(self, places: Mapping[int, ReadPosition | None], poll_faults: int) -> _Look:
        partitions = self._source.partition_count(self._timeout_s)
        return _Look(partitions, poll_faults, self._positions.measure(places))

    def _hear_ping(self) -> None:
        try:
            self._ping.answer()
        except RetriableError as error:  # work goes on without Redis
            self._observer.note(CallFailed.of("ping", error))

    def _hear_look(self, partitions: int) -> None:
        try:
            look = self._look.answer()
        except RetriableError as error:
            self._faults.failed("probe", error)
            return
        if look is None:
            return
        if look.poll_faults == self._faults.times("poll"):
            self._faults.cleared("poll")
        if look.measured.fault is None:
            self._faults.cleared("probe")
        else:  # one partition's leader is away: that holds up nothing but the metrics
            self._faults.failed("probe", look.measured.fault)
        self._faults.input_held(look.measured.held)
        for measured in look.measured.positions:
            if self._assignment.holds(measured.partition):
                self._observer.note(measured)
        if look.partitions != partitions:
            reason, detail = count_changed(partitions, look.partitions)
            for partition in self._assignment.loaded:
                parked = Parked(partition=partition, reason=reason, detail=f"{detail}; see docs/operations.md")
                self._assignment.park(parked)

    def _ask_bounds(self, now_s: float) -> None:
        """Ask for the ledger ends of parked partitions: at once after a partition is parked, then every few seconds."""
        parked = frozenset(self._assignment.parked.values())
        is_due = now_s >= self._bounds_due_s or not parked <= self._bounds_asked
        if parked and is_due and self._bounds.is_free:
            self._bounds_asked, self._bounds_due_s = parked, now_s + _EVERY_S
            self._bounds.ask(lambda: self._ends_of(parked))

    def _ends_of(self, parked: Collection[Parked]) -> _LedgerEnds:
        ends: dict[Parked, int] = {}
        fault: RetriableError | None = None
        for one in sorted(parked, key=lambda one: one.partition):
            try:
                _, ends[one] = self._reader.bounds(self._ledger, one.partition, self._timeout_s)
            except RetriableError as error:
                fault = error
        return _LedgerEnds(ends, fault)

    def _hear_bounds(self) -> None:
        """Claim parked partitions again if their ledger has grown since they were parked."""
        answer = self._bounds.answer()
        if answer is None:
            return
        if answer.fault is not None:
            self._observer.note(CallFailed.of("release", answer.fault))
        for one, end in answer.ends.items():
            if self._is_parked(one) and end > self._ledger_ends.setdefault(one, end):
                self._assignment.unpark(one.partition)
        self._ledger_ends = {one: end for one, end in self._ledger_ends.items() if self._is_parked(one)}

    def _is_parked(self, parked: Parked) -> bool:
        """Tell whether it is still parked: not released, lost or parked again since the question."""
        return self._assignment.parked.get(parked.partition) is parked
