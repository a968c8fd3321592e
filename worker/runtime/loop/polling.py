"""One poll of the input: its records go to the loaded partitions, as many as the turn's budget takes."""

from __future__ import annotations

from caesura.worker.errors import BrokerError, FatalError, RetriableError
from caesura.worker.ports.reasons import ClaimWaitReason, ParkReason
from caesura.worker.ports.records import PartitionEnd, PartitionStalled, Record
from caesura.worker.runtime.loop.assignment import Assignment
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.retries.poll_budget import PollBudget
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

__all__ = ["Polling"]

_NEWS_TRAVEL_S = 5.0
_AGAIN_S = 0.5
"""So long who led a partition may say, as it wakes, that it has no such offset: until it has heard of its successor."""


class Polling:
    """Polls; a fault costs the partition that it hit a claim, and no other one anything."""

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
        """Take what has come; return how many records and fired sessions it was. FatalError.

        ``full`` says afterwards whether it was as much as a turn may take: there may be more.
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
            return 0  # on its way to be claimed: it is sought to its committed offset before it is read
        match item:
            case Record():
                try:
                    return loaded.take(item, most_timers)
                except RetriableError as error:
                    self._claim_again(item.partition, error)
            case PartitionEnd():
                loaded.reached_end(item.next_offset)
            case PartitionStalled():
                self._out_of_range(loaded, item.reason)
        return 0

    def _out_of_range(self, loaded: LoadedPartition, reason: str) -> None:
        """Park a partition whose next record retention has taken, with the range that is there.

        A broker that stood still says so too, as it wakes, of what its successor has taken: then claim again.
        """
        partition = loaded.partition
        try:
            low, end = self._source.watermarks(partition, self._timeout_s)
        except RetriableError as error:
            self._claim_again(partition, error)
            return
        detail = f"{reason}: next is {loaded.next_offset}, there is {low} to {end}; see docs/operations.md"
        if low <= loaded.next_offset and self._stalls_for_s(partition) < _NEWS_TRAVEL_S:
            self._claim_again(partition, BrokerError(detail), after_s=_AGAIN_S)
            return
        self._assignment.park(Parked(partition=partition, reason=ParkReason.OFFSET_OUT_OF_RANGE, detail=detail))

    def _stalls_for_s(self, partition: int) -> float:
        """Return how long the partition has stalled again and again, with this time."""
        now_s = self._clock.monotonic_s()
        since_s, last_s = self._stalls_s.get(partition, (now_s, now_s))
        if now_s - last_s > _NEWS_TRAVEL_S:
            since_s = now_s
        self._stalls_s[partition] = since_s, now_s
        return now_s - since_s

    def _claim_again(self, partition: int, error: RetriableError, *, after_s: float = 0.0) -> None:
        self._faults.failed("poll", error)
        self._assignment.claim_again(partition, ClaimWaitReason.of_fault(error), after_s=after_s)
