"""What decoding can raise: an event that can never be read, and one that a newer release can."""

from __future__ import annotations

from caesura.schemas.dead_letters import DeadLetterReason


class InvalidEventError(ValueError):
    """Bytes that are nothing this release can ever read.

    reason: one of ``caesura.schemas.dead_letters.UNREADABLE``.
    detail: names the field and what was expected there; never quotes a value or a key.
    """

    def __init__(self, reason: DeadLetterReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class NewerVersionError(ValueError):
    """An event of the next major version; the message names the version, digits alone."""
