"""What a ``read_committed`` reader sees of a topic, once the commits that were answered can be seen.

A broker answers the commit of a transaction when the decision is logged; the markers that show its records to readers
are written to the partitions afterwards. So whoever reads right after a commit may see less than was committed.
"""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.ports.records import Record
from tests.harness.waiting import comes

_ALL = Start()


def committed_records(
    admin: AdminClient, settings: KafkaSettings, topic: str, start: Start = _ALL, *, markers_s: float = 3.0
) -> list[Record]:
    """Return the committed records of a topic, or of the partition that ``start`` names, partition by partition.

    markers_s: waits so long at most: a transaction may well be open, of a worker that was killed in the midst of it.
    """
    with KafkaReader(settings, topic) as reader:
        partitions = reader.partitions() if start.partition is None else [start.partition]
        comes(lambda: not last_stable_offset_lags(admin, topic, partitions), within_s=markers_s, every_s=0.02)
        return sorted(reader.read(start, follow=False), key=lambda one: (one.partition, one.offset))


def last_stable_offset_lags(admin: AdminClient, topic: str, partitions: Iterable[int]) -> bool:
    """Tell whether some partition has records of a transaction that is not over for its readers.

    True as well where a broker cannot say, because it is away or has just come back.
    """
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    places = {TopicPartition(topic, partition): latest for partition in partitions}
    try:
        stable, written = (
            [future.result(30).offset for future in asked.values()]
            for asked in (
                admin.list_offsets(places, isolation_level=level, request_timeout=2)
                for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
            )
        )
    except KafkaException:
        return True
    return stable != written
