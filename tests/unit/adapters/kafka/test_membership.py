"""When a commit in the name of a member would be fenced by the brokers, and when not."""

from __future__ import annotations

import struct

import pytest
from confluent_kafka import Consumer

from caesura.worker.adapters.kafka.membership import KafkaMembership
from caesura.worker.errors import FatalError


def metadata(generation: int, member_id: str, *, magic: bytes = b"CGMDv2:") -> bytes:
    return magic + struct.pack("=i", generation) + b"group\0" + member_id.encode() + b"\0\1"


@pytest.mark.parametrize(
    ("generation", "member_id", "current"),
    [(1, "member", True), (0, "member", True), (-1, "member", False), (3, "", False), (-1, "", False)],
)
def test_a_member_is_current_with_a_generation_and_an_id(generation: int, member_id: str, *, current: bool) -> None:
    membership = KafkaMembership.parse(metadata(generation, member_id))
    assert (membership.generation, membership.member_id) == (generation, member_id)
    assert membership.current is current


def test_a_client_that_never_joined_is_not_current() -> None:
    assert not KafkaMembership.parse(None).current


def test_an_unknown_format_is_refused_and_not_taken_for_current() -> None:
    for unknown in (metadata(1, "member", magic=b"CGMDv3:"), b"", b"CGMDv2:"):
        with pytest.raises(FatalError, match="not known"):
            KafkaMembership.parse(unknown)


def test_this_librdkafka_writes_the_format_that_is_read() -> None:
    consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "a group", "log_level": 0})
    membership = KafkaMembership.parse(consumer.consumer_group_metadata())
    consumer.close()
    assert (membership.generation, membership.current) == (-1, False)
