"""What a claim found; a partition's sessions are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from caesura.schemas.checkpoint import Manifest
from caesura.schemas.ledger_sum import LedgerSum
from caesura.worker.ports.reasons import ClaimVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """What a claim hands over: a partition's sessions as of its committed offset.

    partitions: the input's partition count. stored: what is stored, the committed checkpoint or one before it; None
    where nothing that is stored counts. snapshots: session -> its stored snapshot. changed: what was made anew since of
    what is stored, as it would be stored; None: a session that was forgotten. ledger_end: behind the last ledger record
    of what is committed. history: as in ``checkpoint.OffsetMetadata``. replay_offset: where a rebuild begins to
    read the input. ledger: what the ledger must say. leader_epoch: of the last committed record.
    skips: digests of records that an operator has set aside, by input offset.
    """

    partition: int
    partitions: int
    verdict: ClaimVerdict
    token: int
    nonce: str
    next_offset: int
    stored: Manifest | None = None
    snapshots: Mapping[str, bytes] = field(default_factory=dict)
    changed: Mapping[str, bytes | None] = field(default_factory=dict)
    ledger_end: int = 0
    history: str
    replay_offset: int = 0
    ledger: LedgerSum = field(default_factory=LedgerSum)
    leader_epoch: int | None = None
    skips: Mapping[int, str] = field(default_factory=dict)

    def without_store(self) -> ClaimResult:
        """Return the same claim without stored state: the partition must be rebuilt."""
        return replace(self, verdict=ClaimVerdict.BEHIND, stored=None, snapshots={})
