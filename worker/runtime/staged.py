"""Step 1 of a checkpoint: what one partition has to publish, to commit and to save."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.checkpoint import CheckpointId
from schemas.segments import Segment
from worker.ports.records import NextOffset, OutMessage
from worker.ports.tracer import SegmentSpan
from worker.runtime.totals import SessionShare

__all__ = ["Staged", "TransactionPart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPart:
    """What a transaction holds of one partition."""

    partition: int
    next: NextOffset
    messages: list[OutMessage] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged(TransactionPart):
    """Step 1 of a checkpoint for one partition: what to publish, to commit and to save.

    snapshots: of the sessions that it touched, as they are saved; None: a session that is forgotten. shares: what these
    add to the partition's totals.
    alone: no other partition's words may depend on its transaction.
    """

    id: CheckpointId
    alone: bool
    snapshots: dict[str, bytes | None]
    shares: dict[str, SessionShare | None]
    segments: list[Segment]
    spans: list[SegmentSpan]
    dead_letters: int
