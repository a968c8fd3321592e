"""Step 1 of a checkpoint: what one partition will publish, commit and save."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.schemas.checkpoint import CheckpointId
from caesura.schemas.segments import Segment
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.tracer import SegmentSpan
from caesura.worker.runtime.settings.totals import SessionShare


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedCheckpoint:
    """Step 1 of a checkpoint for one partition: what to publish, commit and save.

    snapshots: of the touched sessions, as they are saved; None is a session that is forgotten. shares: what these add
    to the partition's totals.
    """

    partition: int
    id: CheckpointId
    next: NextOffset
    messages: list[OutMessage]
    snapshots: dict[str, bytes | None]
    shares: dict[str, SessionShare | None]
    segments: list[Segment]
    spans: list[SegmentSpan]
    dead_letters: int

    def message(self, topic: str, value: bytes | None) -> OutMessage | None:
        """Return the message to this topic with this value, or None."""
        return next((one for one in self.messages if (one.topic, one.value) == (topic, value)), None)
