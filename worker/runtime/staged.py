"""Step 1 of a checkpoint: what one partition has to save, to publish and to commit."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.checkpoint import CheckpointId, Slot
from schemas.segments import Segment
from worker.ports.records import NextOffset, OutMessage
from worker.ports.session_store import StoreWrite
from worker.ports.tracer import SegmentSpan

__all__ = ["Staged", "TransactionPart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPart:
    """What a transaction holds of one partition."""

    partition: int
    next: NextOffset
    messages: list[OutMessage] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged(TransactionPart):
    """Step 1 of a checkpoint for one partition: what to save, to publish and to commit.

    alone: no other partition's words may depend on its transaction. onward: it is more than an announcement.
    """

    id: CheckpointId
    alone: bool
    onward: bool
    write: StoreWrite
    slots: dict[str, Slot]
    segments: list[Segment]
    spans: list[SegmentSpan]
    dead_letters: int
