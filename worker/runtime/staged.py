"""Step 1 of a checkpoint: what one partition has to save, to publish and to commit."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.checkpoint import CheckpointId, Slot
from schemas.segments import Segment
from worker.ports.records import NextOffset, OutMessage
from worker.ports.session_store import StoreWrite
from worker.ports.tracer import SegmentSpan

__all__ = ["Staged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """Step 1 of a checkpoint for one partition: what to save, to publish and to commit."""

    partition: int
    id: CheckpointId
    write: StoreWrite
    messages: list[OutMessage]
    next: NextOffset
    slots: dict[str, Slot]
    segments: list[Segment]
    spans: list[SegmentSpan]
    dead_letters: int
