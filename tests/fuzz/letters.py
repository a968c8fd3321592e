"""What a dead letter must be: its record's bytes, where it came from, and why; beyond the limit length and digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from caesura.worker.ports.records import Record
from tests.fuzz.message import CANARY

__all__ = ["faults"]

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
