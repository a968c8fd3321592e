"""What one loaded partition has in memory; the jobs on it are files of their own.

``record_admission`` applies records, ``dead_letters`` sets refused ones aside, ``partition_timers`` fires timers,
``staging`` makes checkpoints of what has changed; ``loaded_partition`` puts them together.
"""

from __future__ import annotations

from dataclasses import dataclass

from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.runtime.checkpoint.saves import PartitionSaves
from caesura.worker.runtime.partition.read_position import ReadPosition
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.retries.poison_isolation import PoisonIsolation
from caesura.worker.runtime.settings.totals import SessionTotals

__all__ = ["PartitionState"]


@dataclass(slots=True, kw_only=True)
class PartitionState:
    """One partition's sessions, its time, how far it is read, what is saved of it, and how its steps are tried.

    partitions: the input's partition count. parked: why it takes nothing more; the loop parks it once what it has
    staged is committed. unlabelled: whether the step that is done now goes without the engine.
    """

    partition: int
    partitions: int
    sessions: PartitionSessions
    counts: DecodingCounts
    time: PartitionTime
    position: ReadPosition
    isolation: PoisonIsolation
    totals: SessionTotals
    saves: PartitionSaves
    parked: Parked | None = None
    unlabelled: bool = False

    def park(self, reason: ParkReason, detail: str) -> None:
        """Take nothing more: an operator is needed."""
        self.parked = Parked(partition=self.partition, reason=reason, detail=detail)
