"""One poll of the input: its records go to the loaded partitions, as many as the turn's budget takes."""

from __future__ import annotations

from worker.errors import FatalError, RetriableError
from worker.ports.reasons import ClaimWaitReason, ParkReason
from worker.ports.records import PartitionEnd, PartitionStalled, Record
from worker.runtime.assignment import Assignment
from worker.runtime.faults import Faults
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.parking import Parked
from worker.runtime.parts import RuntimeParts
from worker.runtime.poll_budget import PollBudget
from worker.runtime.settings import RuntimeSettings

__all__ = ["Polling"]


class Polling:
    """Polls; a fault costs the partition that it hit a claim, and no other one anything."""

    def __init__(
        self,
        parts: RuntimeParts,
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

    def poll(self, timeout_s: float) -> int:
        """Take what has come; return how many records and fired sessions it was. FatalError."""
        try:
            items = self._source.poll(self._budget.max_records, timeout_s)
        except RetriableError as error:
            self._faults.failed("poll", error)
            return 0
        if items:
            self._faults.cleared("poll")
        fired = 0
        for item in items:
            fired += self._take(item, max(0, self._budget.max_records - fired))
        return sum(1 for item in items if isinstance(item, Record)) + fired

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
                self._park_out_of_range(loaded, item.reason)
        return 0

    def _park_out_of_range(self, loaded: LoadedPartition, reason: str) -> None:
        """Park a partition whose next record retention has taken, with the range that is there."""
        partition = loaded.partition
        try:
            low, end = self._source.watermarks(partition, self._timeout_s)
        except RetriableError as error:
            self._claim_again(partition, error)
            return
        detail = f"{reason}: next is {loaded.next_offset}, there is {low} to {end}; see docs/operations.md"
        self._assignment.park(Parked(partition=partition, reason=ParkReason.OFFSET_OUT_OF_RANGE, detail=detail))

    def _claim_again(self, partition: int, error: RetriableError) -> None:
        self._faults.failed("poll", error)
        self._assignment.claim_again(partition, ClaimWaitReason.of_fault(error))
