"""Three brokers, one of which dies or stands still: the group's coordinator, a leader, a replica.

A broker that stood still tells, as coordinator or leader, of offsets and ends from before. The worker does not
believe it (ADR 0047).
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import TypeVar

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.adapters.kafka.topics import KafkaTopics, WantedTopic
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.embedded.guarded_process import free_port
from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage
from caesura.worker.runtime.ledger.output_records import ledger_probe
from tests.harness.group_member import PATIENCE_S, Member, text, until
from tests.harness.parts.kafka_broker import KafkaProcess, require_jars
from tests.harness.parts.kafka_cluster import KafkaCluster
from tests.harness.parts.kafka_part import unique
from tests.harness.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]

_Told = TypeVar("_Told")
_LONG_ENOUGH_S = 1.0
"""What a broker that wakes needs at the most to hear that another was elected: 0.05 to more than 0.3 s were seen."""


@pytest.fixture(scope="module")
def started_brokers() -> Iterator[KafkaCluster]:
    require_jars("three brokers of our own")
    ports = [free_port() for _ in range(3)]
    with closing(KafkaCluster(ports, ports)) as cluster:
        cluster.start()
        yield cluster


@pytest.fixture
def brokers(started_brokers: KafkaCluster) -> Iterator[KafkaCluster]:
    """Three brokers that all run, before the test and after it."""
    yield started_brokers
    for node in started_brokers.nodes:
        if not node.alive:
            node.start()


@pytest.fixture
def words(brokers: KafkaCluster) -> str:
    """The words topic of this test; ``_segments`` and ``_claims`` name those that stand beside it, and it the group."""
    name = unique("words")
    brokers.create_topics({name: {}, _segments(name): {}, _claims(name): {}}, 1)
    return name


def _segments(words: str) -> str:
    return f"{words}.segments"


def _claims(words: str) -> str:
    return f"{words}.claims"


def test_a_send_of_offsets_comes_back_and_the_next_transaction_commits(brokers: KafkaCluster, words: str) -> None:
    settings = KafkaSettings(
        bootstrap_servers=brokers.bootstrap, group_id=words, session_timeout_ms=30_000, transaction_timeout_ms=60_000
    )
    with (
        closing(KafkaWordSource(settings, words, _claims(words))) as source,
        closing(KafkaPublisher(settings, f"{words}-0", words)) as publisher,
    ):
        member = Member(source)
        publisher.init_transactions(PATIENCE_S)
        until(lambda: member.held == {0}, member)
        _commit(publisher, member, 0)  # from here on librdkafka remembers who coordinates the group
        publisher.begin()
        _kill_coordinator(brokers, words, publisher)
        with suppress(AbortableError, BrokerError):  # or another coordinates the group already, and takes them
            publisher.send_offsets({0: NextOffset(next_offset=1, metadata="")}, source.membership(), 1.0)

        until(lambda: _recovered(publisher), member)
        until(lambda: member.held == {0} and source.membership().current, member)
        publisher.begin()
        publisher.publish(OutMessage(topic=_segments(words), partition=0, key=None, value=b"good"))
        until(lambda: _sent(publisher, member, 2), member)
        publisher.commit(PATIENCE_S)
        assert source.committed([0], PATIENCE_S) == {0: CommittedOffset(next_offset=2, metadata="2")}
    with KafkaReader(settings, _segments(words)) as reader:
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


def test_the_bounds_of_a_log_are_told_by_its_new_leader_at_the_second_asking(brokers: KafkaCluster, words: str) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id=words)
    with closing(KafkaLogReader(settings)) as reader:
        assert reader.bounds(words, 0, PATIENCE_S) == (0, 0)
        former = brokers.leader(words)
        brokers.nodes[former - 1].kill()
        until(lambda: brokers.leader(words) not in (former, -1))
        brokers.nodes[former - 1].start()
        with suppress(BrokerError):
            reader.bounds(words, 0, PATIENCE_S)
        assert reader.bounds(words, 0, PATIENCE_S) == (0, 0)


def test_a_leader_tells_no_end_while_a_dead_replica_lacks_records(brokers: KafkaCluster, words: str) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id=words, session_timeout_ms=30_000)
    with closing(KafkaWordSource(settings, words, _claims(words))) as source:
        member = Member(source)
        until(lambda: member.ends.get(0) == 0, member)
        assert member.at_end(0, 0)
        _append(brokers.nodes, words, acks="1")
        until(lambda: member.ends.get(0) == 1, member)
        assert member.at_end(0, 1)
        follower = next(node for node in (1, 2, 3) if node != brokers.leader(words))
        brokers.nodes[follower - 1].kill()
        _append(brokers.nodes, words, acks="1")
        source.ask_ends({0: 1}, PATIENCE_S)
        answers = wait_until(lambda: list(source.end_answers()), "no answer", within_s=PATIENCE_S, every_s=0.01)
        assert [(one.at_end, one.failure) for one in answers] == [(None, "")]
        until(lambda: len(member.records) == 2, member)
        assert member.at_end(0, 2)


def _append(brokers: Sequence[KafkaProcess], topic: str, *, acks: str = "all") -> None:
    """Append a record with a client that knows of those brokers only."""
    bootstrap = ",".join(broker.bootstrap for broker in brokers)
    producer = Producer({"bootstrap.servers": bootstrap, "acks": acks, "linger.ms": 0, "log_level": 0})
    producer.produce(topic, b"appended", partition=0)
    assert producer.flush(2 * PATIENCE_S) == 0


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


def _kill_coordinator(brokers: KafkaCluster, group: str, publisher: KafkaPublisher) -> None:
    """Kill the group's coordinator, and wait until the publisher knows of two brokers only."""
    _coordinator(brokers, group).kill()
    until(lambda: _brokers_known(publisher) == 2)


def _brokers_known(publisher: KafkaPublisher) -> int | None:
    try:
        return len(publisher._producing.live.list_topics(timeout=2).brokers)
    except KafkaException:
        return None


def test_an_offset_that_a_former_coordinator_tells_is_not_believed(brokers: KafkaCluster, words: str) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id=words)
    with closing(KafkaWordSource(settings, words, _claims(words))) as source:
        _commit_offset(brokers.nodes, words, 1)
        until(lambda: _told(source) == 1)
        former = _coordinator(brokers, words)
        former.signal(signal.SIGSTOP)
        _commit_offset([broker for broker in brokers.nodes if broker is not former], words, 2)
        former.signal(signal.SIGCONT)
        assert set(_told_for(lambda: _told(source))) <= {None, 2}
        until(lambda: _told(source) == 2)


def _commit_offset(brokers: Sequence[KafkaProcess], words: str, next_offset: int) -> None:
    """Commit with a client that knows of those brokers only that answer."""
    bootstrap = ",".join(broker.bootstrap for broker in brokers)
    with closing(Consumer({"bootstrap.servers": bootstrap, "group.id": words, "log_level": 0})) as consumer:

        def committed() -> bool:
            try:
                consumer.commit(offsets=[TopicPartition(words, 0, next_offset)], asynchronous=False)
            except KafkaException:  # the group has no coordinator yet
                return False
            return True

        until(committed)


def _coordinator(brokers: KafkaCluster, group: str) -> KafkaProcess:
    number = wait_until(lambda: _number_of_coordinator(brokers, group), "the group has no coordinator")
    assert number is not None
    return brokers.nodes[number - 1]


def _number_of_coordinator(brokers: KafkaCluster, group: str) -> int | None:
    """Ask with a client of its own: one that knows a coordinator asks none but it (librdkafka 2.16)."""
    admin = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 0})
    try:
        described = admin.describe_consumer_groups([group])[group].result(PATIENCE_S)
    except KafkaException:
        return None
    number: int = described.coordinator.id
    return number


def _told(source: KafkaWordSource) -> int | None:
    """Return the next offset that is committed; None where it is not to be had now."""
    try:
        found = source.committed([0], 5.0)[0]
    except BrokerError:
        return None
    return None if found is None else found.next_offset


def _told_for(tell: Callable[[], _Told]) -> Iterator[_Told]:
    """Yield all that is told until the broker that stood still has heard of its successor."""
    ends_at_s = time.monotonic() + _LONG_ENOUGH_S
    while time.monotonic() < ends_at_s:
        yield tell()


def test_an_end_that_a_former_leader_tells_is_not_believed(brokers: KafkaCluster, words: str) -> None:
    settings = KafkaSettings(bootstrap_servers=brokers.bootstrap, group_id=words, request_timeout_ms=5000)
    with closing(KafkaLogReader(settings)) as reader:
        _append(brokers.nodes, words)
        assert reader.bounds(words, 0, PATIENCE_S)[1] == 1
        former = brokers.nodes[brokers.leader(words) - 1]
        former.signal(signal.SIGSTOP)
        _append([broker for broker in brokers.nodes if broker is not former], words)
        former.signal(signal.SIGCONT)
        assert all(end is None or end > 2 for end in _told_for(lambda: _told_end(reader, words)))
        until(lambda: (_told_end(reader, words) or 0) > 2)


def _told_end(reader: KafkaLogReader, topic: str) -> int | None:
    """Return the end; None where it is not to be had now."""
    try:
        return reader.bounds_behind(ledger_probe(topic, 0), 5.0)[1]
    except BrokerError:
        return None
