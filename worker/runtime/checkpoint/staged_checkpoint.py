"""Step 1 of a checkpoint: what one partition has to publish, to commit and to save."""

from __future__ import annotations

from dataclasses import dataclass, field

from caesura.schemas.checkpoint import CheckpointId
from caesura.schemas.segments import Segment
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.tracer import SegmentSpan
from caesura.worker.runtime.settings.totals import SessionShare

__all__ = ["StagedCheckpoint", "TransactionPart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPart:
    """What a transaction holds of one partition."""

    partition: int
    next: NextOffset
    messages: list[OutMessage] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedCheckpoint(TransactionPart):
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
