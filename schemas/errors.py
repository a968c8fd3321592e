"""What decoding can raise: an event that can never be read, and one that a newer release can."""

from __future__ import annotations

__all__ = ["InvalidEventError", "NewerVersionError"]


class InvalidEventError(ValueError):
    """Bytes that are no event of a version we read.

    reason: a stable lower-case name. detail: names the field and what was expected there; never quotes a value.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class NewerVersionError(ValueError):
    """An event of a newer major version than this release reads."""
