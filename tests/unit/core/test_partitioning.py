"""Partitioners: the published vectors of the clients they stand for."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.partition.partitioning import crc32_partition, murmur2_partition

_JAVA_VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize(("key", "signed_hash"), _JAVA_VECTORS.items())
def test_murmur2_agrees_with_the_vectors_of_the_java_client(key: bytes, signed_hash: int) -> None:
    for partitions in (1, 7, 12, 4096):
        assert murmur2_partition(key, partitions) == (signed_hash & 0x7FFFFFFF) % partitions


def test_crc32_is_the_unsigned_checksum_modulo_the_count() -> None:
    assert crc32_partition(b"123456789", 1000) == 0xCBF43926 % 1000


@given(key=st.binary(max_size=64), partitions=st.integers(1, 500))
def test_a_partition_is_always_within_the_count(key: bytes, partitions: int) -> None:
    assert 0 <= murmur2_partition(key, partitions) < partitions
    assert crc32_partition(key, partitions) == zlib.crc32(key) % partitions
