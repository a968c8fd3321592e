"""Polls the input and gives the records to the loaded partitions, as many as the round's budget allows."""

from __future__ import annotations

from caesura.worker.errors import BrokerError, FatalError, OwnFaultError, RetriableError
from caesura.worker.ports.reasons import ClaimWaitReason, ParkReason
from caesura.worker.ports.records import PartitionEnd, PartitionStalled, Record
from caesura.worker.runtime.loop.assignment import Assignment
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.retries.own_faults import blamed
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

_TARGET_S = 1.0
_FIRST_RECORDS = 64
_STALE_LEADER_S = 5.0
_AGAIN_S = 0.5
"""For so long a former leader that wakes up may answer that an offset does not exist; retried after ``_AGAIN_S``."""


class PollBudget:
    """How many records a turn of the loop takes: as many as can be labelled in about a second.

    A member that is away from its group for ``kafka.max_poll_interval_ms`` is expelled, and would read the same backlog
    again without end. So the number doubles after a short turn and halves after a long one.
    """

    def __init__(self, most_records: int) -> None:
        self._most = most_records
        self._records = min(_FIRST_RECORDS, most_records)

    @property
    def max_records(self) -> int:
        """How many records the next turn takes at most."""
        return self._records

    def worked(self, records: int, took_s: float) -> None:
        """Take note of a turn that took so many records and worked on them for so long."""
        if took_s > _TARGET_S:
            self._records = max(1, min(self._records, records or self._records) // 2)
        elif took_s < _TARGET_S / 2 and records >= self._records:
            self._records = min(self._most, self._records * 2)


class Polling:
    """Polls. After a fault only the affected partition is claimed again."""

    def __init__(
        self,
        parts: RuntimeAdapters,
        settings: RuntimeSettings,
        *,
        assignment: Assignment,
        faults: Faults,
        budget: PollBudget,
    ) -> None:
        self._source = parts.source
        self._timeout_s = settings.claim_timeout_s
        self._assignment = assignment
        self._faults = faults
        self._budget = budget
        self._clock = parts.clock
        self._stalls_s: dict[int, tuple[float, float]] = {}
        self.full = False

    def poll(self, timeout_s: float) -> int:
        """Take the records that have come; return their number plus that of sessions whose timers fired. FatalError.

        ``full`` tells afterwards whether the budget was used up, so that there may be more records.
        """
        self.full = False
        most = self._budget.max_records
        try:
            items = self._source.poll(most, timeout_s)
        except RetriableError as error:
            self._faults.failed("poll", error)
            return 0
        if items:
            self._faults.cleared("poll")
        self.full = len(items) >= most
        records = fired = 0
        for item in items:
            fired += self._take(item, most - fired if fired < most else 0)
            records += isinstance(item, Record)
        return records + fired

    def _take(self, item: Record | PartitionEnd | PartitionStalled, most_timers: int) -> int:
        loaded = self._assignment.loaded.get(item.partition)
        if loaded is None:
            if isinstance(item, Record) and not self._assignment.holds(item.partition):
                raise FatalError(f"a record of partition {item.partition}, which is not assigned to this worker")
            return 0  # being claimed: a seek to the committed offset comes before its records are read
        match item:
            case Record():
                try:
                    return blamed(item.partition, loaded.take, item, most_timers)
                except RetriableError as error:
                    self._claim_again(item.partition, error)
                except OwnFaultError as error:
                    self._assignment.raised(error)
            case PartitionEnd():
                loaded.reached_end(item.next_offset)
            case PartitionStalled():
                self._out_of_range(loaded, item.reason)
        return 0

    def _out_of_range(self, loaded: LoadedPartition, reason: str) -> None:
        """Park a partition whose next record retention has deleted; the detail has the offsets that exist.

        A former leader that wakes up gives the same answer for records that it lacks: then claim again.
        """
        partition = loaded.partition
        try:
            low, end = self._source.watermarks(partition, self._timeout_s)
        except RetriableError as error:
            self._claim_again(partition, error)
            return
        detail = f"{reason}: next is {loaded.next_offset}, there is {low} to {end}; see docs/operations.md"
        if low <= loaded.next_offset and self._stalls_for_s(partition) < _STALE_LEADER_S:
            self._claim_again(partition, BrokerError(detail), after_s=_AGAIN_S)
            return
        self._assignment.park(Parked(partition=partition, reason=ParkReason.OFFSET_OUT_OF_RANGE, detail=detail))

    def _stalls_for_s(self, partition: int) -> float:
        """Return for how long the partition has stalled repeatedly, including now."""
        now_s = self._clock.monotonic_s()
        since_s, last_s = self._stalls_s.get(partition, (now_s, now_s))
        if now_s - last_s > _STALE_LEADER_S:
            since_s = now_s
        self._stalls_s[partition] = since_s, now_s
        return now_s - since_s

    def _claim_again(self, partition: int, error: RetriableError, *, after_s: float = 0.0) -> None:
        self._faults.failed("poll", error)
        self._assignment.claim_again(partition, ClaimWaitReason.of_fault(error), after_s=after_s)
