"""What the fuzzer sends, and what may become of it."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.schemas.dead_letters import UNREADABLE, DeadLetterReason

__all__ = ["ACCEPTED", "CANARY", "NEWER", "OUTCOMES", "REFUSALS", "Message"]

ACCEPTED = "accepted"
NEWER = "newer_version"
REFUSALS = UNREADABLE | {"key_mismatch", DeadLetterReason.WRONG_PARTITION}
"""The reasons of a record that can never be applied, whatever its session's state."""

OUTCOMES = REFUSALS | {ACCEPTED, NEWER}

CANARY = "zqcanary"
"""Stands in words, keys and values; no error and no log line may ever show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A record to be sent. kind: how it was made. shift: how many partitions beside its key's it is sent to.

    expected: what may become of it, offline; None where the way it was made does not say.
    """

    kind: str
    key: bytes | None
    value: bytes | None
    shift: int = 0
    expected: frozenset[str] | None = None
