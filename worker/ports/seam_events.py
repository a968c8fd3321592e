"""What is told of checkpoints and claims on their way: the numbered points of the seam, and how a checkpoint ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from schemas.segments import Segment
from worker.core.decoding_counts import DecodingCounts
from worker.ports.observer import Event
from worker.ports.reasons import CheckpointOutcome

__all__ = ["CheckpointTaken", "DecodingCounted", "ProducerRebuilt", "SeamReached", "SeamStep", "SegmentsPublished"]


class SeamStep(StrEnum):
    """The numbered points of the seam; reached in this order in an undisturbed checkpoint (docs/seam.md)."""

    STAGED = "1_staged"
    SAVED = "2_saved"
    BEGUN = "3_begun"
    PUBLISHED = "3_published"
    OFFSETS_SENT = "4_offsets_sent"
    COMMITTED = "4_committed"
    ADOPTED = "4_adopted"
    CLAIM_TOKEN_RAISED = "claim_1_token_raised"
    CLAIM_OFFSET_READ = "claim_2_offset_read"
    CLAIM_ROLLED_BACK = "claim_3_rolled_back"
    CLAIM_LOADED = "claim_4_loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeamReached(Event):
    """A checkpoint or claim reached a step."""

    step: SeamStep


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTaken(Event):
    """A checkpoint, committed or not: durations in milliseconds by step, counts, and what was left out and why."""

    outcome: CheckpointOutcome
    partitions: int
    sessions: int
    segments: int
    words: int
    dead_letters: int
    step_ms: Mapping[str, float] = field(default_factory=dict)
    dropped: Mapping[int, CheckpointOutcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentsPublished(Event):
    """Segments whose checkpoint has committed."""

    partition: int
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingCounted(Event):
    """What decoding has counted in checkpoints that committed."""

    counts: DecodingCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerRebuilt(Event):
    """A producer destroyed and made anew."""

    reason: CheckpointOutcome
