"""What the fuzzer sends, and what may become of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from caesura.schemas.dead_letters import UNREADABLE, DeadLetterReason
from caesura.worker.ports.records import Record

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


_MAX_KEY_BYTES = 1024


def faults(
    record: Record,
    reason: str,
    key: bytes | None,
    value: bytes | None,
    headers: Mapping[str, bytes | None],
    *,
    max_bytes: int,
) -> list[str]:
    """Return what is wrong with the dead letter of a record; Kafka's clients take empty and absent for the same."""
    wrong = []
    whole = record.value or b""
    if (value or b"") != whole[:max_bytes]:
        wrong.append("its value is not the record's")
    if len(whole) > max_bytes and _length_and_digest(headers) != (
        b"%d" % len(whole),
        hashlib.sha256(whole).hexdigest().encode(),
    ):
        wrong.append("it does not say the length and the digest of what was cut")
    long_key = len(record.key or b"") > _MAX_KEY_BYTES
    if (key or b"") != (b"" if long_key else record.key or b""):
        wrong.append("its key is not the record's")
    if headers.get("caesura.partition") != b"%d" % record.partition:
        wrong.append("it names another partition")
    if headers.get("caesura.offset") != b"%d" % record.offset:
        wrong.append("it names another offset")
    if headers.get("caesura.reason") != reason.encode():
        wrong.append(f"its reason is {headers.get('caesura.reason')!r}, not {reason}")
    if CANARY.encode() in b"".join(text or b"" for text in headers.values()):
        wrong.append("its headers show a word")
    return wrong


def _length_and_digest(headers: Mapping[str, bytes | None]) -> tuple[bytes | None, bytes | None]:
    return headers.get("caesura.length"), headers.get("caesura.sha256")
