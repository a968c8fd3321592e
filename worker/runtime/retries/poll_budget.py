"""How many records a turn of the loop takes: as many as can be labelled in about a second.

The group expels a worker that does not poll for ``kafka.max_poll_interval_ms``. It would then read the same backlog
again and again. So the records of a turn follow what the engine manages on this machine, now: doubled after a
short turn, halved after a long one. Under overload nothing is dropped; what is not taken waits in Kafka.
"""

from __future__ import annotations

_TARGET_S = 1.0
_FIRST_RECORDS = 64


class PollBudget:
    """Halving and doubling: a machine that slows down tenfold is followed within four turns."""

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
