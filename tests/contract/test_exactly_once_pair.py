"""What source and publisher promise together: output, offset and its metadata count as one, or not at all."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from caesura.worker.errors import BrokerError, CaesuraError, FatalError, FencedError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage
from caesura.worker.ports.word_source import GroupMembership
from tests.harness.clusters import Cluster
from tests.harness.group_member import PATIENCE_S, Member, until


def ready(cluster: Cluster, name: str = "worker-0") -> Publisher:
    publisher = cluster.publisher(name)
    publisher.init_transactions(PATIENCE_S)
    return publisher


def joined(cluster: Cluster, partitions: int = 1) -> Member:
    member = Member(cluster.source())
    until(lambda: len(member.held) == partitions, member)
    return member


def checkpoint(
    publisher: Publisher, topic: str, value: str, offsets: Mapping[int, NextOffset], membership: GroupMembership
) -> None:
    """Publish one value and send offsets; leave the transaction open."""
    publisher.begin()
    publisher.publish(OutMessage(topic=topic, partition=0, key=None, value=value.encode()))
    publisher.send_offsets(offsets, membership, PATIENCE_S)


def committed(member: Member, partition: int = 0) -> CommittedOffset | None:
    return member.committed(partition)


def test_output_and_offset_with_its_metadata_are_committed_together(cluster: Cluster) -> None:
    topic, publisher, member = cluster.output(), ready(cluster), joined(cluster)
    checkpoint(publisher, topic, "out", {0: NextOffset(next_offset=3, metadata="3.1.id")}, member.source.membership())
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["out"]
    assert committed(member) == CommittedOffset(next_offset=3, metadata="3.1.id")


def test_output_and_offset_with_its_metadata_are_aborted_together(cluster: Cluster) -> None:
    topic, publisher, member = cluster.output(), ready(cluster), joined(cluster)
    membership = member.source.membership()
    checkpoint(publisher, topic, "first", {0: NextOffset(next_offset=1, metadata="id 1")}, membership)
    publisher.commit(PATIENCE_S)
    checkpoint(publisher, topic, "second", {0: NextOffset(next_offset=2, metadata="id 2")}, membership)
    publisher.abort(PATIENCE_S)
    assert cluster.visible(topic) == ["first"]
    assert committed(member) == CommittedOffset(next_offset=1, metadata="id 1")


def test_the_same_offset_can_be_committed_again_with_other_metadata(cluster: Cluster) -> None:
    topic, publisher, member = cluster.output(), ready(cluster), joined(cluster)
    for name in ("before the timer", "after the timer"):
        offsets = {0: NextOffset(next_offset=0, metadata=name)}
        checkpoint(publisher, topic, name, offsets, member.source.membership())
        publisher.commit(PATIENCE_S)
    assert committed(member) == CommittedOffset(next_offset=0, metadata="after the timer")


def test_offsets_of_several_partitions_are_committed_at_once(six_partitions: Cluster) -> None:
    topic, publisher, member = six_partitions.output(), ready(six_partitions), joined(six_partitions, 6)
    offsets = {partition: NextOffset(next_offset=partition + 1, metadata=f"p{partition}") for partition in range(5)}
    checkpoint(publisher, topic, "out", offsets, member.source.membership())
    publisher.commit(PATIENCE_S)
    found = member.source.committed(range(6), PATIENCE_S)
    assert [offset and (offset.next_offset, offset.metadata) for _, offset in sorted(found.items())] == [
        *[(partition + 1, f"p{partition}") for partition in range(5)],
        None,
    ]


def test_an_abort_does_not_take_the_reader_back_but_a_seek_does(cluster: Cluster) -> None:
    cluster.append("a", "b")
    topic, publisher, member = cluster.output(), ready(cluster), joined(cluster)
    until(lambda: len(member.records) == 2, member)
    checkpoint(publisher, topic, "out", {0: NextOffset(next_offset=2, metadata="id")}, member.source.membership())
    publisher.abort(PATIENCE_S)
    cluster.append("c")
    until(lambda: len(member.records) == 3, member)
    assert member.values() == ["a", "b", "c"]
    member.source.seek(0, 0)
    until(lambda: len(member.records) == 6, member)
    assert member.values()[3:] == ["a", "b", "c"]


def test_a_member_that_was_replaced_commits_nothing_and_its_producer_can_abort(two_partitions: Cluster) -> None:
    cluster = two_partitions
    topic, publisher, zombie = cluster.output(), ready(cluster, "zombie"), joined(cluster, 2)
    stale = zombie.source.membership()
    heir = Member(cluster.source())
    cluster.expel(zombie, heir)
    until(lambda: heir.held == {0, 1}, heir)
    with pytest.raises(FencedError):
        checkpoint(publisher, topic, "of the zombie", {0: NextOffset(next_offset=1, metadata="stale")}, stale)
    publisher.abort(PATIENCE_S)
    assert cluster.visible(topic) == []
    assert committed(heir) is None
    checkpoint(publisher, topic, "no offsets", {}, heir.source.membership())
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["no offsets"]


def test_a_membership_from_before_a_rebalance_is_refused_after_it(two_partitions: Cluster) -> None:
    cluster = two_partitions
    topic, publisher, first = cluster.output(), ready(cluster), joined(cluster, 2)
    stale = first.source.membership()
    second = Member(cluster.source())
    until(lambda: len(first.held) == len(second.held) == 1, first, second)
    with pytest.raises(FencedError):
        checkpoint(publisher, topic, "stale", {0: NextOffset(next_offset=1, metadata="stale")}, stale)
    publisher.abort(PATIENCE_S)
    (partition,) = first.held
    offsets = {partition: NextOffset(next_offset=1, metadata="current")}
    checkpoint(publisher, topic, "current", offsets, first.source.membership())
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["current"]


def test_somebody_who_never_joined_cannot_commit_offsets(cluster: Cluster) -> None:
    topic, publisher, outsider = cluster.output(), ready(cluster), cluster.source()
    with pytest.raises(FencedError):
        checkpoint(publisher, topic, "x", {0: NextOffset(next_offset=1, metadata="")}, outsider.membership())
    publisher.abort(PATIENCE_S)
    assert cluster.visible(topic) == []


def test_a_negative_offset_is_refused_and_not_dropped_without_a_word(cluster: Cluster) -> None:
    topic, publisher, member = cluster.output(), ready(cluster), joined(cluster)
    with pytest.raises(FatalError, match="negative"):
        checkpoint(publisher, topic, "x", {0: NextOffset(next_offset=-1, metadata="")}, member.source.membership())


def test_a_revoked_partition_can_still_be_committed_inside_the_callback(two_partitions: Cluster) -> None:
    cluster = two_partitions
    topic, publisher, first = cluster.output(), ready(cluster), joined(cluster, 2)
    faults: list[CaesuraError] = []

    def finish(partitions: object) -> None:
        assert isinstance(partitions, list)
        offsets = {partition: NextOffset(next_offset=5, metadata="last words") for partition in partitions}
        try:
            checkpoint(publisher, topic, "last words", offsets, first.source.membership())
            publisher.commit(PATIENCE_S)
        except CaesuraError as fault:
            faults.append(fault)

    first.on_revoke = finish
    second = Member(cluster.source())
    until(lambda: len(second.held) == 1, first, second)
    (moved,) = second.held
    assert faults == []
    assert committed(second, moved) == CommittedOffset(next_offset=5, metadata="last words")
    assert cluster.visible(topic) == ["last words"]


def test_a_new_owner_waits_for_the_old_transaction_until_the_takeover(cluster: Cluster) -> None:
    topic, dead, member = cluster.output(), ready(cluster, "same"), joined(cluster)
    checkpoint(dead, topic, "never", {0: NextOffset(next_offset=1, metadata="never")}, member.source.membership())
    cluster.send(dead)
    with pytest.raises(BrokerError):
        member.source.committed([0], 0.3)
    ready(cluster, "same")
    assert committed(member) is None
    assert cluster.visible(topic) == []
