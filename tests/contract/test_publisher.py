"""What every publisher promises (``publisher``): on the twin, and on a real broker, both protocols."""

from __future__ import annotations

import time

import pytest

from caesura.worker.errors import BrokerError, ContentRefusedError, FatalError, FencedError, OutcomeUnknownError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import NextOffset, OutMessage
from tests.harness.clusters import Cluster
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.waiting import retried


def ready(cluster: Cluster, name: str = "publisher") -> Publisher:
    publisher = cluster.publisher(name)
    publisher.init_transactions(PATIENCE_S)
    return publisher


def initialised(publisher: Publisher) -> None:
    """Initialise as the loop does: again, as long as it is the broker's fault."""
    retried(lambda: publisher.init_transactions(PATIENCE_S), despite=BrokerError, within_s=PATIENCE_S, every_s=0.2)


def publish(publisher: Publisher, topic: str, *values: str, partition: int = 0) -> None:
    for value in values:
        publisher.publish(OutMessage(topic=topic, partition=partition, key=b"key", value=value.encode()))


def whole_transaction(publisher: Publisher, topic: str, *values: str) -> None:
    publisher.begin()
    publish(publisher, topic, *values)
    publisher.commit(PATIENCE_S)


def test_a_missing_output_topic_is_named_before_anything_is_begun(cluster: Cluster) -> None:
    there = cluster.output()
    with pytest.raises(FatalError, match="no-such-topic"):
        initialised(cluster.publisher("lacks", outputs=(there, "no-such-topic")))
    initialised(cluster.publisher("lacks nothing", outputs=(there,)))


def test_an_output_topic_with_fewer_partitions_is_named_at_once(
    six_partitions: Cluster,
) -> None:
    small = six_partitions.output(partitions=5)
    with pytest.raises(FatalError, match=small):
        initialised(six_partitions.publisher("has too few", outputs=(six_partitions.output(), small)))


def test_what_is_committed_is_seen_in_order_and_nothing_of_it_before(cluster: Cluster) -> None:
    topic, publisher = cluster.output(), ready(cluster)
    publisher.begin()
    publish(publisher, topic, "a", "b", "c")
    cluster.send(publisher)
    assert cluster.visible(topic, at_once=True) == []
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["a", "b", "c"]


def test_the_publisher_knows_where_its_last_transaction_ended_in_each_partition(six_partitions: Cluster) -> None:
    topic, publisher = six_partitions.output(), ready(six_partitions)
    assert publisher.end_of(topic, 1) is None
    publisher.begin()
    publish(publisher, topic, "a", "b", "c", partition=1)
    publish(publisher, topic, "d", partition=4)
    publisher.commit(PATIENCE_S)
    assert [publisher.end_of(topic, partition) for partition in (0, 1, 4)] == [None, 3, 1]
    publisher.begin()
    publish(publisher, topic, "e", partition=1)
    publisher.abort(PATIENCE_S)
    publisher.begin()
    publish(publisher, topic, "f", partition=4)
    publisher.commit(PATIENCE_S)
    end = publisher.end_of(topic, 4)
    assert end is not None
    assert end > 1
    assert publisher.end_of(topic, 1) is None


def test_a_message_goes_to_the_partition_it_names(six_partitions: Cluster) -> None:
    topic, publisher = six_partitions.output(), ready(six_partitions)
    publisher.begin()
    for partition in range(6):
        publish(publisher, topic, f"for {partition}", partition=partition)
    publisher.commit(PATIENCE_S)
    assert [six_partitions.visible(topic, partition) for partition in range(6)] == [[f"for {n}"] for n in range(6)]


def test_what_is_aborted_is_never_seen_and_the_next_transaction_is(cluster: Cluster) -> None:
    topic, publisher = cluster.output(), ready(cluster)
    publisher.begin()
    publish(publisher, topic, "sent")
    cluster.send(publisher)
    publish(publisher, topic, "still queued")
    publisher.abort(PATIENCE_S)
    publisher.begin()
    publish(publisher, topic, "good")
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["good"]


def test_a_transaction_with_nothing_in_it_can_be_committed_and_aborted(cluster: Cluster) -> None:
    publisher = ready(cluster)
    publisher.begin()
    publisher.commit(PATIENCE_S)
    publisher.begin()
    publisher.abort(PATIENCE_S)


def test_a_call_out_of_turn_is_fatal(cluster: Cluster) -> None:
    publisher = ready(cluster)
    for call in (publisher.commit, publisher.abort):
        with pytest.raises(FatalError):
            call(PATIENCE_S)
    with pytest.raises(FatalError):
        publish(publisher, cluster.topic, "outside")


def test_a_newer_producer_ends_the_transaction_of_the_older_and_fences_it(cluster: Cluster) -> None:
    topic, zombie = cluster.output(), ready(cluster, "same")
    zombie.begin()
    publish(zombie, topic, "of the zombie")
    cluster.send(zombie)
    heir = ready(cluster, "same")
    heir.begin()
    publish(heir, topic, "of the heir")
    heir.commit(PATIENCE_S)
    with pytest.raises(FencedError):
        zombie.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["of the heir"]


def test_a_fenced_producer_can_begin_or_publish_nothing_more(cluster: Cluster) -> None:
    topic, zombie = cluster.output(), ready(cluster, "same")
    zombie.begin()
    publish(zombie, topic, "of the zombie")
    cluster.send(zombie)
    ready(cluster, "same")
    with pytest.raises(FencedError):
        zombie.commit(PATIENCE_S)
    with pytest.raises((FencedError, FatalError, OutcomeUnknownError)):
        whole_transaction(zombie, topic, "again")
    assert cluster.visible(topic) == []


def test_a_rebuilt_producer_has_ended_what_was_open_and_goes_on(cluster: Cluster) -> None:
    topic, publisher = cluster.output(), ready(cluster)
    publisher.begin()
    publish(publisher, topic, "given up")
    cluster.send(publisher)
    publisher.rebuild(PATIENCE_S)
    publisher.begin()
    publish(publisher, topic, "kept")
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["kept"]


def test_a_timed_out_transaction_has_no_known_outcome_until_a_rebuild(
    cluster: Cluster,
) -> None:
    topic, publisher = cluster.output(), ready(cluster)
    publisher.begin()
    publish(publisher, topic, "too slow")
    cluster.send(publisher)
    cluster.expire(publisher)
    with pytest.raises(OutcomeUnknownError):
        publisher.commit(PATIENCE_S)
    publisher.rebuild(PATIENCE_S)
    publisher.begin()
    publish(publisher, topic, "in time")
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["in time"]


def test_a_message_that_the_topic_does_not_take_spoils_its_transaction_only(cluster: Cluster) -> None:
    topic, publisher = cluster.output(max_message_bytes=2_000), ready(cluster)
    with pytest.raises(ContentRefusedError) as refused:
        whole_transaction(publisher, topic, "secret " * 1_000)
    assert "secret" not in str(refused.value)
    assert (refused.value.topic, refused.value.partition) == (topic, 0)
    assert refused.value.value == b"secret " * 1_000
    publisher.abort(PATIENCE_S)
    publisher.begin()
    publish(publisher, topic, "short")
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["short"]


def test_a_message_refused_before_the_offsets_are_sent_is_named(cluster: Cluster) -> None:
    topic, publisher, member = cluster.output(max_message_bytes=2_000), ready(cluster), Member(cluster.source())
    until(lambda: bool(member.held), member)
    publisher.begin()

    def refused_meanwhile() -> None:
        publish(publisher, topic, "secret " * 1_000)  # the twin says so at once
        time.sleep(1.0)
        offset = NextOffset(next_offset=1, metadata="id")
        publisher.send_offsets({0: offset}, member.source.membership(), PATIENCE_S)

    with pytest.raises(ContentRefusedError) as refused:
        refused_meanwhile()
    assert (refused.value.topic, refused.value.value) == (topic, b"secret " * 1_000)
    publisher.abort(PATIENCE_S)


def test_many_messages_fit_into_one_transaction(cluster: Cluster) -> None:
    topic, publisher = cluster.output(), ready(cluster)
    publisher.begin()
    values = [str(number) for number in range(5_000)]
    publish(publisher, topic, *values)
    publisher.commit(PATIENCE_S)
    assert cluster.visible(topic) == values


def test_a_closed_producer_leaves_its_transaction_to_the_next_of_its_id(cluster: Cluster) -> None:
    topic, publisher = cluster.output(), ready(cluster, "same")
    publisher.begin()
    publish(publisher, topic, "left open")
    cluster.send(publisher)
    publisher.close()
    publisher.close()
    successor = ready(cluster, "same")
    successor.begin()
    publish(successor, topic, "next")
    successor.commit(PATIENCE_S)
    assert cluster.visible(topic) == ["next"]


def test_the_id_is_the_one_given(cluster: Cluster) -> None:
    assert cluster.publisher("worker-3").transactional_id.endswith("worker-3")
