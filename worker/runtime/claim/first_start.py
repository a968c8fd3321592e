"""Whether a partition without a committed offset is really new: nothing else may know it (docs/exactly-once.md)."""

from __future__ import annotations

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.runtime.ledger.output_records import is_probe, ledger_probe
from caesura.worker.runtime.retries.parking import count_changed
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings


def why_not_new(
    partition: int, parts: RuntimeAdapters, settings: RuntimeSettings, *, partitions: int
) -> tuple[ParkReason, str] | None:
    """Return reason and detail where the partition must be parked; None where it may start. Blocks; BrokerError.

    The ledger knows what was published: an offset that is gone all the same was deleted, or its retention passed. And
    a partition beside it that was committed under another count says that sessions have moved.
    """
    timeout_s = settings.claim_timeout_s
    low, end = parts.reader.bounds_behind(ledger_probe(settings.ledger, partition), timeout_s)
    records = parts.reader.read(settings.ledger, partition, low, end, settings.rebuild_stall_s)
    if any(not is_probe(record) for record in records):
        return ParkReason.OFFSET_FROM_OUTSIDE, "no offset is committed, but the ledger knows sessions of this partition"
    for text in parts.peers.committed_metadata(timeout_s).values():
        metadata = OffsetMetadata.decode(text)
        if metadata is not None and metadata.partitions != partitions:
            return count_changed(metadata.partitions, partitions)
    return None
