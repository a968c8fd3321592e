"""A rebuild that kills its process, or whose checkpoint never commits, stops nobody but its own partition.

1. The first checkpoint of a rebuilt partition is a transaction of its own, after that of all others.
2. Where three claims ended without a commit, a rebuild is announced first: the same offset is committed once more, with
   how often it was tried, under an id of number 0. Such an id stands in no manifest, so whoever claims the partition
   next rebuilds it again. That the announcement committed shows that it is the rebuild that fails, not the brokers.
3. Announced rebuilds of a worker come one after another: the next is announced when the one before has committed.
4. After three announced tries it is tried without the engine, its words go out unlabelled; after six it is parked.
5. One that parks for what stands in the log was no try, nor was one that is only interrupted: by a log that cannot be
   read, a worker that stops, a partition that goes to another member. That is committed, too. A process that dies
   commits nothing, and so its try counts.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Self

from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.schemas.ledger_sum import LedgerSum
from caesura.worker.runtime.retries.poison_isolation import MAX_CLAIMS_WITHOUT_COMMIT

__all__ = ["RebuildTries", "announcement", "is_announcement"]

_MAX_LABELLED_TRIES = 3
_MAX_TRIES = 6


def is_announcement(committed: OffsetMetadata | None) -> bool:
    """Tell whether the last commit only said that a rebuild was about to be tried."""
    return committed is not None and committed.id.n == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildTries:
    """How often a rebuild was announced and did not commit; announce: whether the next one has to be."""

    announced: int = 0
    announce: bool = False

    @classmethod
    def noted(cls, committed: OffsetMetadata | None, claims_without_commit: int) -> Self:
        """Return what the last commit and the tokens since then say."""
        if committed is not None and is_announcement(committed):
            return cls(announced=committed.tries, announce=True)
        return cls(announce=claims_without_commit >= MAX_CLAIMS_WITHOUT_COMMIT)

    @property
    def exhausted(self) -> bool:
        """Tell whether it was tried often enough."""
        return self.announced >= _MAX_TRIES

    @property
    def unlabelled(self) -> bool:
        """Tell whether it is to be tried without the engine."""
        return self.announced >= _MAX_LABELLED_TRIES


def announcement(  # noqa: PLR0913 - what the metadata has
    token: int,
    tries: int,
    *,
    topic: str,
    partition: int,
    next_offset: int,
    replay_offset: int,
    partitions: int,
    transactional_id: str,
    ledger: LedgerSum,
    history: str,
) -> OffsetMetadata:
    """Return what the announcement of a try commits with the offset that it leaves as it is.

    Its nonce is its own: a claim may have written a manifest of number 0 with the claim's.
    """
    return OffsetMetadata(
        id=CheckpointId(token, 0, secrets.token_hex(8)),
        topic=topic,
        partition=partition,
        next_offset=next_offset,
        replay_offset=replay_offset,
        partitions=partitions,
        tries=tries,
        transactional_id=transactional_id,
        ledger=ledger,
        history=history,
    )
