"""Why a partition is parked, and how a checkpoint ended: each name once, for the runtime, telemetry and the pages.

The values are published: they are labels of metrics and stand in log lines, alerts and ``docs/alerts.md``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from worker.errors import AbortableError, CaesuraError, FencedError, OutcomeUnknownError

__all__ = ["CheckpointOutcome", "ParkReason"]


class ParkReason(StrEnum):
    """Why a partition waits for an operator."""

    DEAD_LETTER_LIMIT = "dead_letter_limit"
    FLUSH_FAILS = "flush_fails"
    LEDGER_UNREADABLE = "ledger_unreadable"
    NEWER_EVENT = "newer_event"
    OFFSET_FROM_OUTSIDE = "offset_from_outside"
    OFFSET_OUT_OF_RANGE = "offset_out_of_range"
    PARTITION_COUNT_CHANGED = "partition_count_changed"
    REBUILD_FAILS = "rebuild_fails"
    SAVES_REFUSED = "saves_refused"
    STATE_UNREADABLE = "state_unreadable"


class CheckpointOutcome(StrEnum):
    """How a checkpoint ended, or why a partition was left out of one."""

    COMMITTED = "committed"
    EMPTY = "empty"
    SAVE_REFUSED = "save_refused"
    SAVE_UNANSWERED = "save_unanswered"
    ABORTED_ABORTABLE = "aborted_abortable"
    ABORTED_FENCED = "aborted_fenced"
    ABORTED_OUTCOME_UNKNOWN = "aborted_outcomeunknown"
    ABORTED_RETRIABLE = "aborted_broker"
    ABORT_ABORTABLE = "abort_abortable"
    ABORT_OUTCOME_UNKNOWN = "abort_outcomeunknown"
    ABORT_RETRIABLE = "abort_broker"
    COMMIT_ABORTED = "commit_aborted"
    COMMIT_UNANSWERED = "commit_unanswered"
    COMMIT_UNKNOWN = "commit_unknown"
    PUBLISHER_FENCED = "publisher_fenced"
    STARTING = "starting"  # none was taken yet: the producer has still to be made

    @property
    def fenced(self) -> str | None:
        """By whom a write was refused because somebody newer owns the state; None where nobody refused it."""
        return _FENCED_BY.get(self)

    @property
    def blames_no_step(self) -> bool:
        """Tell whether it says nothing of what the checkpoint held: Redis or somebody newer stood in its way."""
        return self in _BLAMELESS

    @classmethod
    def of_transaction(cls, error: CaesuraError) -> CheckpointOutcome:
        """Return how a transaction ended that failed before its commit."""
        if isinstance(error, FencedError):
            return cls.ABORTED_FENCED
        if isinstance(error, AbortableError):
            return cls.ABORTED_ABORTABLE
        return cls.ABORTED_OUTCOME_UNKNOWN if isinstance(error, OutcomeUnknownError) else cls.ABORTED_RETRIABLE

    @classmethod
    def of_abort(cls, error: CaesuraError) -> CheckpointOutcome:
        """Return how an abort ended that failed itself."""
        if isinstance(error, FencedError):
            return cls.PUBLISHER_FENCED
        if isinstance(error, AbortableError):
            return cls.ABORT_ABORTABLE
        return cls.ABORT_OUTCOME_UNKNOWN if isinstance(error, OutcomeUnknownError) else cls.ABORT_RETRIABLE


_FENCED_BY: Final = {
    CheckpointOutcome.SAVE_REFUSED: "store",
    CheckpointOutcome.ABORTED_FENCED: "group",
    CheckpointOutcome.PUBLISHER_FENCED: "producer",
}
_BLAMELESS: Final = frozenset({*_FENCED_BY, CheckpointOutcome.SAVE_UNANSWERED})
