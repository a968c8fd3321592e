"""The state of one loaded partition, on which other files work.

``record_admission`` applies records, ``dead_letters`` sets refused ones aside, ``partition_timers`` fires timers,
``checkpoint_staging`` makes checkpoints, ``loaded_partition`` puts them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.runtime.checkpoint.saves import PartitionSaves
from caesura.worker.runtime.partition.read_position import ReadPosition
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.retries.step_search import StepSearch
from caesura.worker.runtime.settings.totals import SessionTotals


@dataclass(slots=True, kw_only=True)
class PartitionState:
    """One partition's sessions, time, read position and saves, and the limits of its next steps.

    partitions: the input's partition count. parked: why it takes no more; the loop parks it once its staged changes are
    committed. skips: as in ``ClaimResult``.
    """

    partition: int
    partitions: int
    sessions: PartitionSessions
    counts: DecodingCounts
    time: PartitionTime
    position: ReadPosition
    search: StepSearch
    totals: SessionTotals
    saves: PartitionSaves
    skips: Mapping[int, str]
    parked: Parked | None = None

    def park(self, reason: ParkReason, detail: str) -> None:
        """Take no more records: an operator is needed."""
        self.parked = Parked(partition=self.partition, reason=reason, detail=detail)
