"""A broker goes: the group's coordinator in the midst of a transaction, a leader between two questions of a rebuild."""

from __future__ import annotations

from contextlib import closing, suppress

import pytest
from confluent_kafka import KafkaException, Producer

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.adapters.kafka.topics import KafkaTopics, WantedTopic
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage
from tests.harness.group_member import PATIENCE_S, Member, text, until
from tests.harness.parts.kafka_cluster import KafkaCluster
from tests.harness.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]

_GROUP = "coordinated"


def test_a_send_of_offsets_comes_back_and_the_next_transaction_commits(brokers: KafkaCluster) -> None:
    settings = KafkaSettings(
        bootstrap_servers=brokers.bootstrap, group_id=_GROUP, session_timeout_ms=30_000, transaction_timeout_ms=60_000
    )
    with (
        closing(KafkaWordSource(settings, "words", "claims")) as source,
        closing(KafkaPublisher(settings, "coordinated-0", "words")) as publisher,
    ):
        member = Member(source)
        publisher.init_transactions(PATIENCE_S)
        until(lambda: member.held == {0}, member)
        _commit(publisher, member, 0)  # from here on librdkafka remembers who coordinates the group
        publisher.begin()
        _kill_coordinator(brokers, publisher)
        with suppress(AbortableError, BrokerError):  # or another coordinates the group already, and takes them
            publisher.send_offsets({0: NextOffset(next_offset=1, metadata="")}, source.membership(), 1.0)

        until(lambda: _recovered(publisher), member)
        until(lambda: member.held == {0} and source.membership().current, member)
        publisher.begin()
        publisher.publish(OutMessage(topic="segments", partition=0, key=None, value=b"good"))
        until(lambda: _sent(publisher, member, 2), member)
        publisher.commit(PATIENCE_S)
        assert source.committed([0], PATIENCE_S) == {0: CommittedOffset(next_offset=2, metadata="2")}
    with KafkaReader(settings, "segments") as reader:
        assert [text(record) for record in reader.read(Start(), follow=False)] == ["good"]


def test_a_topic_that_was_made_is_told_of_by_every_broker(brokers: KafkaCluster) -> None:
    admin = KafkaTopics(KafkaSettings(bootstrap_servers=brokers.bootstrap))
    for number in range(5):
        made = WantedTopic(name=f"made-{number}", purpose="asked for at once", partitions=24)
        admin.create(made, replication=3, options={"min.insync.replicas": "2"})
        waited_for = admin.brokers()
        while waited_for:
            for broker, address in list(waited_for.items()):
                answered, told = KafkaTopics(KafkaSettings(bootstrap_servers=address)).told(made, broker)
                assert told, answered
                waited_for.pop(answered, None)


def test_the_bounds_of_a_log_are_told_by_its_new_leader_at_the_second_asking(brokers: KafkaCluster) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id="rebuilding")
    with closing(KafkaLogReader(settings)) as reader:
        assert reader.bounds("segments", 0, PATIENCE_S) == (0, 0)
        former = brokers.leader("segments")
        brokers.nodes[former - 1].kill()
        until(lambda: brokers.leader("segments") not in (former, -1))
        brokers.nodes[former - 1].start()
        with suppress(BrokerError):
            reader.bounds("segments", 0, PATIENCE_S)
        assert reader.bounds("segments", 0, PATIENCE_S) == (0, 0)


def test_a_leader_tells_no_end_while_a_dead_replica_lacks_records(
    brokers: KafkaCluster,
) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id=_GROUP, session_timeout_ms=30_000)
    producer = Producer({"bootstrap.servers": brokers.bootstrap, "acks": 1, "linger.ms": 0})
    with closing(KafkaWordSource(settings, "words", "claims")) as source:
        member = Member(source)
        until(lambda: member.ends.get(0) == 0, member)
        assert member.at_end(0, 0)
        _append(producer, b"first")
        until(lambda: member.ends.get(0) == 1, member)
        assert member.at_end(0, 1)
        follower = next(node for node in (1, 2, 3) if node != brokers.leader("words"))
        brokers.nodes[follower - 1].kill()
        _append(producer, b"hidden")
        source.ask_ends({0: 1}, PATIENCE_S)
        answers = wait_until(lambda: list(source.end_answers()), "no answer", within_s=PATIENCE_S, every_s=0.01)
        assert [(one.at_end, one.failure) for one in answers] == [(None, "")]
        until(lambda: len(member.records) == 2, member)
        assert member.at_end(0, 2)


def _append(producer: Producer, value: bytes) -> None:
    producer.produce("words", value, partition=0)
    assert producer.flush(PATIENCE_S) == 0


def _commit(publisher: Publisher, member: Member, next_offset: int) -> None:
    publisher.begin()
    until(lambda: _sent(publisher, member, next_offset), member)
    publisher.commit(PATIENCE_S)


def _sent(publisher: Publisher, member: Member, next_offset: int) -> bool:
    offset = NextOffset(next_offset=next_offset, metadata=str(next_offset))
    try:
        publisher.send_offsets({0: offset}, member.source.membership(), PATIENCE_S)
    except BrokerError:
        return False
    return True


def _recovered(publisher: Publisher) -> bool:
    try:
        publisher.rebuild(1.0)
    except BrokerError:
        return False
    return True


def _kill_coordinator(brokers: KafkaCluster, publisher: KafkaPublisher) -> None:
    """Kill the group's coordinator, and wait until the publisher knows of two brokers only."""
    described = brokers.admin.describe_consumer_groups([_GROUP])[_GROUP].result(PATIENCE_S)
    brokers.nodes[described.coordinator.id - 1].kill()
    until(lambda: _brokers_known(publisher) == 2)


def _brokers_known(publisher: KafkaPublisher) -> int | None:
    try:
        return len(publisher._producing.live.list_topics(timeout=2).brokers)
    except KafkaException:
        return None
