"""Why a partition is parked or waits, what a claim found, how a checkpoint ended: each name once, for all who use it.

The values are published: they are labels of metrics and stand in log lines, alerts and ``docs/alerts.md``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from caesura.worker.errors import (
    AbortableError,
    BrokerError,
    CaesuraError,
    ContentRefusedError,
    EngineError,
    FencedError,
    ForeignStateError,
    OutcomeUnknownError,
    RetriableError,
    StoreError,
    UnprovenOffsetError,
)


class ParkReason(StrEnum):
    """Why a partition waits for an operator."""

    DEAD_LETTER_LIMIT = "dead_letter_limit"
    FLUSH_FAILS = "flush_fails"
    LEDGER_INCOMPLETE = "ledger_incomplete"
    LEDGER_UNREADABLE = "ledger_unreadable"
    NEWER_EVENT = "newer_event"
    OFFSET_FROM_OUTSIDE = "offset_from_outside"
    OFFSET_OUT_OF_RANGE = "offset_out_of_range"
    PARTITION_COUNT_CHANGED = "partition_count_changed"
    REBUILD_FAILS = "rebuild_fails"
    STATE_UNREADABLE = "state_unreadable"


class ClaimVerdict(StrEnum):
    """What the stored state is worth that a claim found (``verdict``)."""

    FIRST_START = "first_start"
    GOOD = "good"
    BEHIND = "behind"
    CAUGHT_UP = "caught_up"
    FOREIGN = "foreign"


class PhaseName(StrEnum):
    """How far a held partition has come (``phases`` has the ways from one to another)."""

    CLAIMING = "claiming"
    REBUILDING = "rebuilding"
    LOADED = "loaded"
    PARKED = "parked"


class CalledPart(StrEnum):
    """Whom a call went to."""

    BROKER = "broker"
    STORE = "store"


class SaveOutcome(StrEnum):
    """How a save to Redis ended."""

    LANDED = "landed"
    REFUSED = "refused"
    UNANSWERED = "unanswered"


class RebalanceKind(StrEnum):
    """What the group did with partitions."""

    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"


class ClaimWaitReason(StrEnum):
    """Why a partition waits to be loaded, or is claimed again, where it is not how its checkpoint ended."""

    SAVE_REFUSED = "save_refused"
    UNPARKED = "unparked"
    # A call failed, by its place in the error tree (``errors``).
    BROKER_FAILED = "BrokerError"
    OFFSET_UNPROVEN = "UnprovenOffsetError"
    ENGINE_FAILED = "EngineError"
    FOREIGN_STATE = "ForeignStateError"
    OWN_FAULT = "OwnFaultError"  # our own code raised
    STORE_FAILED = "StoreError"
    CALL_FAILED = "RetriableError"

    @property
    def fenced(self) -> str | None:
        """Return "store" where Redis holds something else than was saved there, else None."""
        return "store" if self is ClaimWaitReason.SAVE_REFUSED else None

    @classmethod
    def of_fault(cls, error: RetriableError) -> ClaimWaitReason:
        """Return which call failed, as exactly as the error says it."""
        return next(reason for kind, reason in _WAITS_AFTER.items() if isinstance(error, kind))


class CheckpointOutcome(StrEnum):
    """How a checkpoint ended."""

    COMMITTED = "committed"
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
    CONTENT_REFUSED = "content_refused"  # the only one that blames a record; all others are outages
    PUBLISHER_FENCED = "publisher_fenced"
    STARTING = "starting"  # none was taken yet: the producer has still to be made

    @property
    def fenced(self) -> str | None:
        """Who refused a write because a newer worker owns the state; None if it was not refused."""
        return _FENCED_BY.get(self)

    @classmethod
    def of_transaction(cls, error: CaesuraError) -> CheckpointOutcome:
        """Return how a transaction ended that failed before its commit."""
        if isinstance(error, FencedError):
            return cls.ABORTED_FENCED
        if isinstance(error, ContentRefusedError):
            return cls.CONTENT_REFUSED
        if isinstance(error, AbortableError):
            return cls.ABORTED_ABORTABLE
        return cls.ABORTED_OUTCOME_UNKNOWN if isinstance(error, OutcomeUnknownError) else cls.ABORTED_RETRIABLE

    @classmethod
    def of_commit(cls, error: CaesuraError) -> CheckpointOutcome:
        """Return how a commit ended that failed itself."""
        if isinstance(error, FencedError):
            return cls.PUBLISHER_FENCED
        if isinstance(error, ContentRefusedError):
            return cls.CONTENT_REFUSED
        if isinstance(error, AbortableError):
            return cls.COMMIT_ABORTED
        return cls.COMMIT_UNKNOWN if isinstance(error, OutcomeUnknownError) else cls.COMMIT_UNANSWERED

    @classmethod
    def of_abort(cls, error: CaesuraError) -> CheckpointOutcome:
        """Return how an abort ended that failed itself."""
        if isinstance(error, FencedError):
            return cls.PUBLISHER_FENCED
        if isinstance(error, AbortableError):
            return cls.ABORT_ABORTABLE
        return cls.ABORT_OUTCOME_UNKNOWN if isinstance(error, OutcomeUnknownError) else cls.ABORT_RETRIABLE


_WAITS_AFTER: Final[dict[type[RetriableError], ClaimWaitReason]] = {
    UnprovenOffsetError: ClaimWaitReason.OFFSET_UNPROVEN,  # before what it is one of
    BrokerError: ClaimWaitReason.BROKER_FAILED,
    EngineError: ClaimWaitReason.ENGINE_FAILED,
    ForeignStateError: ClaimWaitReason.FOREIGN_STATE,  # a StoreError too: it stands before that
    StoreError: ClaimWaitReason.STORE_FAILED,
    RetriableError: ClaimWaitReason.CALL_FAILED,
}
_FENCED_BY: Final = {
    CheckpointOutcome.ABORTED_FENCED: "group",
    CheckpointOutcome.PUBLISHER_FENCED: "producer",
}
