"""Which partition a producer puts a session into: a session must stay in one, and clients differ."""

from __future__ import annotations

import zlib
from functools import lru_cache

_MASK = 0xFFFFFFFF
_M = 0x5BD1E995


def murmur2_partition(key: bytes, partitions: int) -> int:
    """Return the partition that Java's default partitioner chooses (librdkafka: ``murmur2``, ``murmur2_random``)."""
    return (_murmur2(key) & 0x7FFFFFFF) % partitions


def crc32_partition(key: bytes, partitions: int) -> int:
    """Return the partition that librdkafka's default chooses (``consistent``, ``consistent_random``)."""
    return zlib.crc32(key) % partitions


@lru_cache(maxsize=2**14)  # of the keys that are there: a session's is asked for with every event
def _murmur2(data: bytes) -> int:
    """MurmurHash2, 32 bits, with Kafka's seed (org.apache.kafka.common.utils.Utils)."""
    length = len(data)
    whole = length & ~3
    h = 0x9747B28C ^ length
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little") * _M & _MASK
        k = (k ^ (k >> 24)) * _M & _MASK
        h = (h * _M & _MASK) ^ k
    if whole < length:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h = (h ^ (h >> 13)) * _M & _MASK
    return h ^ (h >> 15)
