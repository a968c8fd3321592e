"""What a claim may ask of other members' transactions: whose metadata is committed, and an end to what is open."""

from __future__ import annotations

import pytest

from caesura.worker.errors import AbortableError, BrokerError, FencedError, OutcomeUnknownError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage
from tests.harness.clusters import Cluster
from tests.harness.group_member import PATIENCE_S, Member, until


def a_checkpoint(cluster: Cluster, publisher: Publisher, member: Member, topic: str, number: int) -> None:
    """Publish and send an offset; leave the transaction open."""
    publisher.begin()
    publisher.publish(OutMessage(topic=topic, partition=0, key=None, value=b"said"))
    offset = NextOffset(next_offset=number, metadata=f"by worker-0, number {number}")
    publisher.send_offsets({0: offset}, member.source.membership(), PATIENCE_S)
    cluster.send(publisher)


def joined(cluster: Cluster) -> tuple[Member, Publisher]:
    member = Member(cluster.source())
    until(lambda: len(member.held) == 1, member)
    publisher = cluster.publisher("worker-0")
    publisher.init_transactions(PATIENCE_S)
    return member, publisher


def test_a_group_without_a_commit_has_no_offset(cluster: Cluster) -> None:
    joined(cluster)
    assert cluster.peers().committed_offsets(PATIENCE_S) == {}


def test_a_committed_offset_is_told_while_a_transaction_is_open_on_the_offset(cluster: Cluster) -> None:
    topic, (member, publisher) = cluster.output(), joined(cluster)
    a_checkpoint(cluster, publisher, member, topic, 1)
    publisher.commit(PATIENCE_S)
    a_checkpoint(cluster, publisher, member, topic, 2)
    with pytest.raises(BrokerError):
        member.source.committed([0], 0.3)
    committed = CommittedOffset(next_offset=1, metadata="by worker-0, number 1")
    assert cluster.peers().committed_offsets(PATIENCE_S) == {0: committed}


def test_a_transaction_that_is_ended_is_aborted_and_whoever_held_it_is_fenced(cluster: Cluster) -> None:
    topic, (member, publisher) = cluster.output(), joined(cluster)
    a_checkpoint(cluster, publisher, member, topic, 1)
    publisher.commit(PATIENCE_S)
    a_checkpoint(cluster, publisher, member, topic, 2)
    cluster.peers().end(publisher.transactional_id, PATIENCE_S)
    committed = member.committed()
    assert committed == CommittedOffset(next_offset=1, metadata="by worker-0, number 1")
    assert cluster.visible(topic) == ["said"]
    with pytest.raises((FencedError, AbortableError, OutcomeUnknownError)):
        publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["said"]


def test_an_id_that_nobody_uses_may_be_ended_too(cluster: Cluster) -> None:
    topic, (member, publisher) = cluster.output(), joined(cluster)
    cluster.peers().end("nobody", PATIENCE_S)
    a_checkpoint(cluster, publisher, member, topic, 1)
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["said"]
