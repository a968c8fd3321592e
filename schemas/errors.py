"""What decoding can raise: an event that can never be read, and one that a newer release can."""

from __future__ import annotations

__all__ = ["REASONS", "InvalidEventError", "NewerVersionError"]

REASONS = frozenset(
    {
        "malformed",  # not MessagePack, cut off, something after its end, text that is not UTF-8, nested without end
        "wrong_type",
        "missing_field",
        "duplicate_field",
        "out_of_range",  # the right type, a value that the field cannot have
        "forbidden_character",  # white space in a word, control characters in any text
        "oversized",
        "unknown_version",
    }
)
"""The reasons of ``InvalidEventError``; they stand in dead letters and in a metric, and never change their meaning."""


class InvalidEventError(ValueError):
    """Bytes that are nothing this release can ever read.

    reason: one of ``REASONS``. detail: names the field and what was expected there; never quotes a value or a key.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class NewerVersionError(ValueError):
    """An event of a newer major version than this release reads; the message names the version, digits alone."""
