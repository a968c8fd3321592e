"""The load's sessions as input records, without a broker: for tests on the twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from caesura.worker.ports.records import Record
from tests.harness.producers import Sent, session_records

__all__ = ["spoken"]


def spoken(seed: int, sessions: int, partitions: int = 1) -> list[Record]:
    """Return the records of some sessions that speak by turns, partition by partition in order of their offsets."""
    records: list[Record] = []
    ends: Counter[int] = Counter()
    running: list[Iterator[Sent]] = [session_records(seed, number, partitions) for number in range(sessions)]
    while running:
        session = running.pop(0)
        one = next(session, None)
        if one is None:
            continue
        running.append(session)
        records.append(
            Record(partition=one.partition, offset=ends[one.partition], timestamp_ms=0, key=one.key, value=one.value)
        )
        ends[one.partition] += 1
    return sorted(records, key=lambda record: (record.partition, record.offset))
