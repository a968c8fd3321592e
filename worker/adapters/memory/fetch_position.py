"""The read position of an in-memory group member in one partition: its records, and each time it meets the end."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.worker.adapters.memory.log import PartitionLog
from caesura.worker.ports.records import PartitionEnd, PartitionStalled, Record


@dataclass(slots=True, kw_only=True)
class FetchPosition:
    """Where an assigned partition stands. next_offset: None until the first seek; told: the end that was told last."""

    next_offset: int | None = None
    delivered_to: int = 0
    told: int = -1
    stalled: bool = False
    paused: bool = True
    leader_epoch: int | None = None

    def sought(self, next_offset: int, leader_epoch: int | None) -> FetchPosition:
        """Return the partition's position after a seek: nothing of what was met before counts."""
        return FetchPosition(
            next_offset=next_offset, delivered_to=next_offset, paused=self.paused, leader_epoch=leader_epoch
        )

    def resume(self) -> None:
        """Deliver again; the end is told again where it is met."""
        self.paused, self.told = False, -1

    def read(
        self, log: PartitionLog, max_records: int, fetched_to: int | None
    ) -> list[Record | PartitionEnd | PartitionStalled]:
        """Return what is to be delivered. fetched_to: up to where the leader's log was fetched; None: to its end."""
        start = self.next_offset
        if start is None or self.stalled:
            return []
        if not log.start <= start <= log.end:
            self.stalled = True
            return [PartitionStalled(partition=log.partition, reason=f"offset {start} is out of range")]
        if log.diverges(start, self.leader_epoch):
            self.stalled = True
            reason = f"offset {start} is of leader epoch {self.leader_epoch}, whose records end before it"
            return [PartitionStalled(partition=log.partition, reason=reason)]
        end = log.stable_end if fetched_to is None else fetched_to
        if fetched_to is not None and start > end:
            return []
        records, following = log.read(start, max_records)
        records, self.next_offset = [one for one in records if one.offset < end], min(following, end)
        if records:
            self.delivered_to = records[-1].offset + 1
            self.leader_epoch = records[-1].leader_epoch
        items: list[Record | PartitionEnd | PartitionStalled] = [*records]
        if self.next_offset >= end and self.told != self.next_offset:
            self.told = self.next_offset
            items.append(PartitionEnd(partition=log.partition, next_offset=self.next_offset))
        return items

    def met_end(self, end: int, next_offset: int) -> bool:
        """Tell whether the log's ``end`` was told, and all before it was delivered, to one who asks at an offset."""
        return end <= self.told and self.delivered_to <= next_offset
