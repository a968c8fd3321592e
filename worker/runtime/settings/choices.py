"""What a setting of the runtime may be, where it is one of a few names."""

from __future__ import annotations

from enum import StrEnum

from caesura.worker.core.partition.partitioning import crc32_partition, murmur2_partition


class StartAt(StrEnum):
    """Where to begin in a partition that has no committed offset."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Partitioner(StrEnum):
    """How the producers map a session to a partition; ``unchecked`` trusts them."""

    MURMUR2 = "murmur2"
    CRC32 = "crc32"
    UNCHECKED = "unchecked"

    def place(self, key: bytes, partitions: int) -> int:
        """Return the partition of a key; if unchecked, the one that Java producers choose."""
        return (crc32_partition if self is Partitioner.CRC32 else murmur2_partition)(key, partitions)


class Traces(StrEnum):
    """Where spans go; the values are those of ``OTEL_TRACES_EXPORTER``."""

    NONE = "none"
    OTLP = "otlp"
