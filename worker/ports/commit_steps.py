"""Events of checkpoints and claims: the numbered steps of the commit protocol, and how a checkpoint ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from caesura.schemas.segments import Segment
from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.ports.observer import Event
from caesura.worker.ports.reasons import CheckpointOutcome


class CommitStep(StrEnum):
    """The numbered steps of the commit protocol, in the order of an undisturbed checkpoint (docs/exactly-once.md)."""

    STAGED = "1_staged"
    BEGUN = "2_begun"
    PUBLISHED = "2_published"
    OFFSETS_SENT = "3_offsets_sent"
    COMMITTED = "3_committed"
    ADOPTED = "3_adopted"
    SAVED = "4_saved"
    CLAIM_OFFSET_READ = "claim_1_offset_read"
    CLAIM_LOADED = "claim_2_loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStepReached(Event):
    """A checkpoint or claim reached a step."""

    step: CommitStep


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTaken(Event):
    """A checkpoint: milliseconds by step, and counts. dropped: partition -> why it did not commit for sure."""

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
