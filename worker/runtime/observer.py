"""What the runtime tells of itself, to telemetry and to tests. No word's text ever passes here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from schemas.segments import Segment
from worker.core.decoding_counts import DecodingCounts

__all__ = ["CheckpointSummary", "Observer", "RebuildSummary", "SeamStep", "SilentObserver"]


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
class CheckpointSummary:
    """One checkpoint's canonical line: durations in milliseconds by step, counts, and what was left out and why."""

    outcome: str
    partitions: int
    sessions: int
    segments: int
    words: int
    dead_letters: int
    step_ms: dict[str, float] = field(default_factory=dict)
    dropped: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildSummary:
    """One rebuild's canonical line.

    lost_sessions, lost_words: of the ledger's sessions, what the input does not hold any more (retention).
    lost_offsets: the stretch of the input, first and next, that was to be read and is gone; empty where both are equal.
    """

    sessions: int
    ledger_records: int
    input_records: int
    lost_sessions: int
    lost_words: int
    lost_offsets: tuple[int, int] = (0, 0)

    @property
    def lost_records(self) -> int:
        """How many offsets of the input were to be read and are gone."""
        first, following = self.lost_offsets
        return following - first


class Observer(Protocol):
    """Told of everything that an operator may want to see. Must not raise, but in tests that crash the worker."""

    def loop_moved(self) -> None:
        """Note that the loop turned once more: liveness."""
        ...

    def seam(self, step: SeamStep) -> None:
        """Note that a checkpoint or claim reached a step."""
        ...

    def checkpoint(self, summary: CheckpointSummary) -> None:
        """Note a checkpoint, committed or not."""
        ...

    def published(self, partition: int, segments: Sequence[Segment]) -> None:
        """Note segments whose checkpoint has committed."""
        ...

    def rebalanced(self, kind: str, partitions: Sequence[int]) -> None:
        """Note partitions ``assigned``, ``revoked`` or ``lost``."""
        ...

    def claimed(self, partition: int, verdict: str, sessions: int, took_s: float) -> None:
        """Note a partition whose sessions are loaded."""
        ...

    def rebuilt(self, partition: int, summary: RebuildSummary, took_s: float) -> None:
        """Note a partition whose sessions were made again from the log."""
        ...

    def took_over(self, partition: int, transactional_id: str) -> None:
        """Note a dead peer's transaction that was ended, because a claim had waited for it long enough."""
        ...

    def waiting(self, partition: int, reason: str) -> None:
        """Note a partition that cannot be claimed yet."""
        ...

    def parked(self, partition: int, reason: str, detail: str) -> None:
        """Note a partition that waits for an operator: a stable name of why, and what he needs to know."""
        ...

    def let_go(self, partition: int) -> None:
        """Note a partition that is no longer held: drop its gauges."""
        ...

    def dead_letter(self, partition: int, offset: int, reason: str) -> None:
        """Note an event refused."""
        ...

    def repeated(self, partition: int) -> None:
        """Note a repeated event dropped."""
        ...

    def labelled(self, sessions: int, words: int, took_s: float) -> None:
        """Note one batch through the engine."""
        ...

    def engine_failed(self, sessions: int) -> None:
        """Note a batch that the engine refused."""
        ...

    def position(self, partition: int, next_offset: int, end_offset: int, oldest_unread_ms: int) -> None:
        """Note how far a partition is read, and how old its oldest unread word is."""
        ...

    def publisher_rebuilt(self, reason: str) -> None:
        """Note a producer destroyed and made anew."""
        ...

    def tallied(self, tally: DecodingCounts) -> None:
        """Note what decoding has counted in checkpoints that committed."""
        ...

    def sessions(self, partition: int, by_status: Mapping[str, int]) -> None:
        """Note how many sessions a partition has in memory, by status."""
        ...

    def queued(self, oldest_s: float) -> None:
        """Note how long the oldest session of a batch waited for it."""
        ...

    def flooding(self, queued_words: Mapping[str, int]) -> None:
        """Note which sessions flood as of this turn, perhaps none, and how many words of theirs wait."""
        ...

    def faulted(self, part: str, call: str, error: str) -> None:
        """Note a call that failed and is tried again: ``part`` is ``store`` or ``broker``."""
        ...

    def readiness(self, reasons: Sequence[str]) -> None:
        """Note why this worker should not count as ready; none: it should."""
        ...


class SilentObserver:
    """Hears everything and says nothing; to be extended by those who want a part."""

    def loop_moved(self) -> None:
        """Say nothing."""

    def seam(self, step: SeamStep) -> None:
        """Say nothing."""

    def checkpoint(self, summary: CheckpointSummary) -> None:
        """Say nothing."""

    def published(self, partition: int, segments: Sequence[Segment]) -> None:
        """Say nothing."""

    def rebalanced(self, kind: str, partitions: Sequence[int]) -> None:
        """Say nothing."""

    def claimed(self, partition: int, verdict: str, sessions: int, took_s: float) -> None:
        """Say nothing."""

    def rebuilt(self, partition: int, summary: RebuildSummary, took_s: float) -> None:
        """Say nothing."""

    def took_over(self, partition: int, transactional_id: str) -> None:
        """Say nothing."""

    def waiting(self, partition: int, reason: str) -> None:
        """Say nothing."""

    def parked(self, partition: int, reason: str, detail: str) -> None:
        """Say nothing."""

    def let_go(self, partition: int) -> None:
        """Say nothing."""

    def dead_letter(self, partition: int, offset: int, reason: str) -> None:
        """Say nothing."""

    def repeated(self, partition: int) -> None:
        """Say nothing."""

    def labelled(self, sessions: int, words: int, took_s: float) -> None:
        """Say nothing."""

    def engine_failed(self, sessions: int) -> None:
        """Say nothing."""

    def position(self, partition: int, next_offset: int, end_offset: int, oldest_unread_ms: int) -> None:
        """Say nothing."""

    def publisher_rebuilt(self, reason: str) -> None:
        """Say nothing."""

    def tallied(self, tally: DecodingCounts) -> None:
        """Say nothing."""

    def sessions(self, partition: int, by_status: Mapping[str, int]) -> None:
        """Say nothing."""

    def queued(self, oldest_s: float) -> None:
        """Say nothing."""

    def flooding(self, queued_words: Mapping[str, int]) -> None:
        """Say nothing."""

    def faulted(self, part: str, call: str, error: str) -> None:
        """Say nothing."""

    def readiness(self, reasons: Sequence[str]) -> None:
        """Say nothing."""
