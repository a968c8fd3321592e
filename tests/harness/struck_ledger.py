"""What an operator strikes from a twin world's ledger, writes again, and whether the rest is what was committed."""

from __future__ import annotations

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.ledger_sum import LedgerSum
from caesura.schemas.state import decode_ledger
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.records import Record
from tests.harness.in_memory_world import World

__all__ = ["disagreement", "strike", "write_again"]

_TOPIC = "caesura.ledger"
_MARK = ("struck", b"")


def strike(world: World, session: str, *, older: bool = False) -> bool:
    """Put a tombstone over a session's record, or its record before that; False where there is none.

    Asked by nobody's id: it does not stand in a transaction.
    """
    key = session.encode()
    partition = murmur2_partition(key, world.partitions)
    written = [one for one in world.broker.records(_TOPIC, partition) if one.key == key and not _is_struck(one)]
    if not written or written[-1].value is None or (older and (len(written) < 2 or written[-2].value is None)):
        return False
    value = written[-2].value if older else None
    world.broker.append(_TOPIC, partition, value, key=key, headers=(_MARK,))
    return True


def write_again(world: World) -> int:
    """Write again whatever is struck and was not written over since; return how many sessions."""
    count = 0
    for partition in range(world.partitions):
        for key, (latest, written) in _latest(world, partition).items():
            if _is_struck(latest):
                world.broker.append(_TOPIC, partition, written.value, key=key, headers=written.headers)
                count += 1
    return count


def disagreement(world: World) -> str | None:
    """Say where what a committed offset says of the ledger is not what workers have written there; None: nowhere."""
    for partition in range(world.partitions):
        committed = world.broker.last_committed("caesura", "asr.words", partition)
        metadata = OffsetMetadata.decode(committed.metadata) if committed is not None else None
        log = world.broker.log(_TOPIC, partition)
        if metadata is None or log.stable_end != log.end:
            continue
        found = LedgerSum()
        for _, written in _latest(world, partition).values():
            if written.value is not None:
                found = found.plus(decode_ledger(written.value))
        if found != metadata.ledger:
            return f"partition {partition}: {metadata.ledger} is committed of the ledger, it says {found}"
    return None


def _latest(world: World, partition: int) -> dict[bytes, tuple[Record, Record]]:
    """Return of each key its last record, and its last one of a worker's."""
    latest: dict[bytes, tuple[Record, Record]] = {}
    for record in world.broker.records(_TOPIC, partition):
        key = record.key or b""
        before = latest.get(key, (record, record))[1]
        latest[key] = (record, before if _is_struck(record) else record)
    return latest


def _is_struck(record: Record) -> bool:
    return _MARK in record.headers
