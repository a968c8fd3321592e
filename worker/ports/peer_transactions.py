"""Ending a transaction that a dead peer left open."""

from __future__ import annotations

from typing import Protocol

from caesura.worker.ports.records import CommittedOffset


class PeerTransactions(Protocol):
    """Ends a transaction that a dead peer left open, so that a claim need not wait for its time-out."""

    def committed_offsets(self, timeout_s: float) -> dict[int, CommittedOffset]:
        """Return the group's committed offsets, by partition, without waiting for open transactions.

        May block; BrokerError.
        """
        ...

    def end(self, transactional_id: str, timeout_s: float) -> None:
        """Fence the user of this transactional id and abort its open transaction. May block; BrokerError."""
        ...
