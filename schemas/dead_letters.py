"""Dead letters: every reason, whether the limit on dead letters counts it, and the headers that both sides use.

A new reason is a line here and one in ``docs/produce.md``. Reasons are published; they never change their meaning.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class DeadLetterReason(StrEnum):
    """Why an event was refused."""

    # The bytes are none of an event (``codec``).
    MALFORMED = (
        "malformed"  # neither MessagePack nor JSON, cut off, something after its end, not UTF-8, nested without end
    )
    WRONG_TYPE = "wrong_type"
    MISSING_FIELD = "missing_field"
    DUPLICATE_FIELD = "duplicate_field"
    OUT_OF_RANGE = "out_of_range"  # the right type, a value that the field cannot have
    FORBIDDEN_CHARACTER = "forbidden_character"  # white space in a word, control characters in any text
    OVERSIZED = "oversized"
    UNKNOWN_VERSION = "unknown_version"
    # The record is not where or what its event says.
    KEY_MISMATCH = "key_mismatch"
    WRONG_PARTITION = "wrong_partition"  # its key belongs into another partition, by the count the worker knows
    # The session does not take this event any more.
    LATE = "late"
    STALE_EPOCH = "stale_epoch"
    SESSION_ENDED = "session_ended"
    # There are as many open sessions as the operator allows; those that are open go on.
    TOO_MANY_SESSIONS = "too_many_sessions"
    # A broker refused what came of it, or our own code raised for it.
    POISON = "poison"
    # An operator had it set aside (``caesura skip``).
    SKIPPED = "skipped"

    @property
    def is_limited(self) -> bool:
        """Tell whether ``dead_letter_limit`` counts it: the same bytes would be refused again."""
        return self not in _OF_THE_READING

    @property
    def outlives_rebuild(self) -> bool:
        """Tell whether a rebuild must be told of it, for it could decide otherwise.

        What a record's session decides a rebuild finds again. The rest depends on settings or, of the bytes, on the
        limits of a release: the ledger keeps that it was refused.
        """
        return self not in _OF_THE_SESSION


_OF_THE_READING: Final = frozenset(
    {
        DeadLetterReason.LATE,
        DeadLetterReason.STALE_EPOCH,
        DeadLetterReason.SESSION_ENDED,
        DeadLetterReason.TOO_MANY_SESSIONS,
        DeadLetterReason.SKIPPED,
    }
)
"""The reasons that depend on when or where an event was read: at another time the same bytes might have been taken."""

_OF_THE_SESSION: Final = frozenset(
    {DeadLetterReason.LATE, DeadLetterReason.STALE_EPOCH, DeadLetterReason.SESSION_ENDED}
)

UNREADABLE: Final = frozenset(
    {
        DeadLetterReason.MALFORMED,
        DeadLetterReason.WRONG_TYPE,
        DeadLetterReason.MISSING_FIELD,
        DeadLetterReason.DUPLICATE_FIELD,
        DeadLetterReason.OUT_OF_RANGE,
        DeadLetterReason.FORBIDDEN_CHARACTER,
        DeadLetterReason.OVERSIZED,
        DeadLetterReason.UNKNOWN_VERSION,
    }
)
"""The reasons of bytes that are no event (``caesura.schemas.errors.InvalidEventError``)."""


class DeadLetterHeader(StrEnum):
    """The headers of a dead letter: where it came from, why, and what was cut."""

    TOPIC = "caesura.topic"
    PARTITION = "caesura.partition"
    OFFSET = "caesura.offset"
    REASON = "caesura.reason"
    DETAIL = "caesura.detail"
    LENGTH = "caesura.length"
    SHA256 = "caesura.sha256"
    KEY_SHA256 = "caesura.key_sha256"
