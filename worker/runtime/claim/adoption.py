"""Starts a partition at an offset that somebody set. Its ledger forgets all sessions.

Otherwise, after a later loss of Redis, a rebuild would bring back sessions that were given up here. It would also skip
records that are now read again, because the ledger says that they were refused.

The offset must lie after the start of every session that has published. Else that session would start again with the
same ``since``, and its segments would come twice under the same names (ADR 0033).
"""

from __future__ import annotations

from collections.abc import Callable

from caesura.schemas.ledger_sum import LedgerSum
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.runtime.ledger.ledger_reading import LedgerReading, UnreadableLedgerError
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.parking import Parked

_CHUNK_RECORDS = 1000
_DONE = object()


class Adoption:
    """Reads the ledger, a chunk a turn. finish: gets the keys to forget, and the ledger's end."""

    def __init__(
        self,
        partition: int,
        ledger: LedgerReading,
        *,
        next_offset: int,
        timeout_s: float,
        stall_s: float,
        finish: Callable[[list[str], int], LoadedPartition],
    ) -> None:
        self._partition = partition
        self._ledger = ledger
        self._next_offset = next_offset
        self._steps = ledger.run(chunk_records=_CHUNK_RECORDS, timeout_s=timeout_s, stall_s=stall_s)
        self._finish = finish

    def let_go(self) -> None:
        """Do nothing: it has made no session."""

    def advance(self) -> LoadedPartition | Parked | None:
        """Do one chunk of the work; None: there is more. RetriableError: claim again.

        Parked if the ledger cannot be read, or if the partition must not begin at this offset.
        """
        try:
            if next(self._steps, _DONE) is not _DONE:
                return None
        except UnreadableLedgerError as error:
            return self._park(ParkReason.LEDGER_UNREADABLE, error.detail(self._next_offset, LedgerSum()))
        begun = self._ledger.begun_through
        if self._next_offset <= begun:
            detail = (
                f"the offset is {self._next_offset}, and sessions that published began as late as {begun}: their "
                f"segments would come again under the same names; free is {begun + 1}; see docs/operations.md"
            )
            return self._park(ParkReason.OFFSET_FROM_OUTSIDE, detail)
        return self._finish(self._ledger.keys_from(self._next_offset), self._ledger.end)

    def _park(self, reason: ParkReason, detail: str) -> Parked:
        return Parked(partition=self._partition, reason=reason, detail=detail)
