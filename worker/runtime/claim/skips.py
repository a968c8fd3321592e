"""Records that an operator sets aside: ``caesura skip`` writes a request to the claims topic, and each claim reads it.

A request has the input offset and the SHA-256 of the record's value, so it cannot hit another record. The owner's next
checkpoint carries it out: dead letter, note of refusal, next offset.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.records import OutMessage, Record

_KEY = b"skip"
_REQUEST = re.compile(rb"([0-9]{1,19}) ([0-9a-f]{64})")


def skip_request(claims_topic: str, record: Record) -> OutMessage:
    """Return the request to skip a record of the input."""
    value = b"%d %s" % (record.offset, _digest(record).encode())
    return OutMessage(topic=claims_topic, partition=record.partition, key=_KEY, value=value)


def read_skips(
    reader: LogReader, claims_topic: str, partition: int, *, timeout_s: float, stall_s: float
) -> dict[int, str]:
    """Return the digests of the records to skip, by input offset. Blocks; BrokerError."""
    low, end = reader.bounds(claims_topic, partition, timeout_s)
    skips: dict[int, str] = {}
    for request in reader.read(claims_topic, partition, low, end, stall_s):
        asked = _REQUEST.fullmatch(request.value or b"")
        if request.key == _KEY and asked is not None:
            skips[int(asked[1])] = asked[2].decode()
    return skips


def is_skipped(skips: Mapping[int, str], record: Record) -> bool:
    """Tell whether this very record is to be skipped."""
    return record.offset in skips and skips[record.offset] == _digest(record)


def _digest(record: Record) -> str:
    return hashlib.sha256(record.value or b"").hexdigest()
