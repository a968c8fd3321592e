"""Reading the log from outside the group, for a rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from caesura.worker.ports.records import OutMessage, Record


class LogReader(Protocol):
    """Reads stretches of the log from outside the group; what a rebuild looks through."""

    def bounds(self, topic: str, partition: int, timeout_s: float) -> tuple[int, int]:
        """Ask the leader for the earliest and the end offset, open transactions included. May block; BrokerError."""
        ...

    def bounds_behind(self, probe: OutMessage, timeout_s: float) -> tuple[int, int]:
        """Write a record, and return the earliest offset of its partition and the end behind it.

        Who leads the partition no longer tells of an older end, and cannot take a record. May block; BrokerError.
        """
        ...

    def read(self, topic: str, partition: int, start: int, end: int, timeout_s: float) -> Iterator[Record]:
        """Yield the committed records from ``start`` up to ``end``, which is done only when the position passed it.

        May block; BrokerError where the time-out passes without progress (a transaction before ``end`` is still open),
        and if the partition's leader has no such offset, no longer or not yet: ask for the bounds anew.
        """
        ...

    def close(self) -> None:
        """Close the connections; harmless twice."""
        ...
