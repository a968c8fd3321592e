"""What a word source promises of its records (``word_source``): twin and real broker, both protocols."""

from __future__ import annotations

import pytest

from caesura.worker.errors import BrokerError, FatalError
from caesura.worker.ports.records import NextOffset, OutMessage, Record
from tests.contract.written import an_aborted_record, numbered
from tests.harness.clusters import Cluster
from tests.harness.group_member import PATIENCE_S, Member, until


def test_a_record_comes_as_it_was_written(cluster: Cluster) -> None:
    cluster.append("a word")
    member = Member(cluster.source())
    until(lambda: bool(member.records), member)
    (record,) = member.records
    assert (record.partition, record.offset, record.key, record.value) == (0, 0, b"key", b"a word")
    assert record.headers == (("h", b"x"),)
    assert record.timestamp_ms > 1_600_000_000_000


def test_records_come_in_order_and_no_more_at_once_than_asked_for(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 50))
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    member.source.seek(0, 0)
    member.source.resume([0])
    seen: list[str] = []
    while len(seen) < 50:
        items = member.source.poll(7, 0.2)
        records = [item for item in items if isinstance(item, Record)]
        assert len(records) <= 7
        seen.extend((record.value or b"").decode() for record in records)
    assert seen == numbered(0, 50)


def test_a_new_partition_delivers_only_after_seek_and_resume(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 5))
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    for _ in range(10):
        member.step()
    member.source.seek(0, 2)
    for _ in range(10):
        member.step()
    assert member.records == []
    member.source.resume([0])
    until(lambda: len(member.records) == 3, member)
    assert member.values() == ["2", "3", "4"]


def test_a_partition_that_was_never_sought_cannot_be_resumed(cluster: Cluster) -> None:
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    with pytest.raises(FatalError, match="before they were sought"):
        member.source.resume([0])


def test_an_aborted_record_is_never_delivered(cluster: Cluster) -> None:
    cluster.append("0")
    an_aborted_record(cluster)
    cluster.append("1")
    member = Member(cluster.source())
    until(lambda: len(member.records) == 2, member)
    until(lambda: bool(member.ends), member)
    assert member.values() == ["0", "1"]


def test_a_reader_waits_before_an_open_transaction(cluster: Cluster) -> None:
    publisher = cluster.publisher("open")
    publisher.init_transactions(PATIENCE_S)
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    publisher.begin()
    publisher.publish(OutMessage(topic=cluster.topic, partition=0, key=None, value=b"open"))
    cluster.send(publisher)
    cluster.append("after")
    for _ in range(5):
        member.step()
    assert member.records == []
    publisher.commit(PATIENCE_S)
    until(lambda: len(member.records) == 2, member)
    assert member.values() == ["open", "after"]


def test_a_paused_partition_is_silent_and_goes_on_where_it_was(two_partitions: Cluster) -> None:
    cluster = two_partitions
    member = Member(cluster.source())
    until(lambda: len(member.ends) == 2, member)
    member.source.pause([0])
    member.source.pause([0])
    cluster.append(*numbered(0, 3), partition=0)
    cluster.append(*numbered(10, 13), partition=1)
    until(lambda: len(member.values(1)) == 3, member)
    assert member.values(0) == []
    member.source.resume([0])
    until(lambda: len(member.values(0)) == 3, member)
    assert member.values(0) == numbered(0, 3)


def test_a_pause_in_the_middle_of_a_backlog_loses_and_repeats_nothing(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 200))
    member = Member(cluster.source())
    member.max_records = 10
    until(lambda: len(member.records) >= 10, member)
    for _ in range(5):
        member.source.pause([0])
        member.source.resume([0])
        member.step()
    until(lambda: len(member.records) >= 200, member)
    assert member.values() == numbered(0, 200)


@pytest.mark.parametrize("next_offset", [0, 3, 40, 99])
def test_after_a_seek_nothing_from_elsewhere_is_delivered(cluster: Cluster, next_offset: int) -> None:
    cluster.append(*numbered(0, 100))
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    member.source.seek(0, 10)
    member.source.resume([0])
    member.max_records = 10
    until(lambda: bool(member.records), member)
    member.records.clear()
    member.source.seek(0, next_offset)
    until(lambda: len(member.records) == 100 - next_offset, member)
    assert member.values() == numbered(next_offset, 100)


def test_a_partition_of_somebody_else_can_be_neither_sought_nor_resumed(cluster: Cluster) -> None:
    source = cluster.source()
    with pytest.raises(BrokerError):
        source.seek(0, 0)
    with pytest.raises(BrokerError):
        source.resume([0])


def test_an_offset_out_of_range_is_told_and_a_seek_goes_on(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 10))
    cluster.delete_before(0, 6)
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    member.source.seek(0, 2)
    member.source.resume([0])
    until(lambda: 0 in member.stalled, member)
    assert member.records == []
    earliest, end = member.source.watermarks(0, PATIENCE_S)
    assert (earliest, end) == (6, 10)
    member.source.seek(0, earliest)
    until(lambda: len(member.records) == 4, member)
    assert member.values() == numbered(6, 10)


def test_a_partition_without_a_commit_has_no_committed_offset(two_partitions: Cluster) -> None:
    assert two_partitions.source().committed([0, 1], PATIENCE_S) == {0: None, 1: None}


def test_committed_offsets_are_not_told_while_a_transaction_on_them_is_open(two_partitions: Cluster) -> None:
    cluster = two_partitions
    member = Member(cluster.source())
    until(lambda: len(member.held) == 2, member)
    publisher = cluster.publisher("slow")
    publisher.init_transactions(PATIENCE_S)
    publisher.begin()
    publisher.send_offsets({0: NextOffset(next_offset=7, metadata="id 7")}, member.source.membership(), PATIENCE_S)
    with pytest.raises(BrokerError):
        member.source.committed([0], 0.5)
    assert member.committed(1) is None
    publisher.commit(PATIENCE_S)
    found = member.committed()
    assert found is not None
    assert (found.next_offset, found.metadata) == (7, "id 7")


def test_a_claims_token_is_found_by_the_next_claim(
    two_partitions: Cluster,
) -> None:
    member = Member(two_partitions.source())
    until(lambda: len(member.held) == 2, member)
    found: list[str] = []

    def claim(partition: int, left: str) -> bool:
        def leave(last: str) -> str:
            found.append(last)
            return left

        try:
            member.source.committed([partition], PATIENCE_S, leave=leave)
        except BrokerError:
            return False
        return True

    until(lambda: claim(0, "7"), member)
    assert set(found) <= {"", "7"}
    found.clear()
    until(lambda: claim(1, "3"), member)
    assert set(found) <= {"", "3"}
    found.clear()
    assert member.committed(0) is None
    until(lambda: claim(0, "8"), member)
    assert set(found) <= {"7", "8"}
    assert "7" in found


def test_the_partition_count_is_the_topics(two_partitions: Cluster) -> None:
    assert two_partitions.source().partition_count(PATIENCE_S) == 2


def test_a_topic_that_is_missing_is_named(cluster: Cluster) -> None:
    with pytest.raises(FatalError, match="no-such-topic"):
        cluster.source(topic="no-such-topic").partition_count(PATIENCE_S)
