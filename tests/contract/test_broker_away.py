"""Brokers that do not answer: everything that passes by itself is a BrokerError, and the same call succeeds later."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Literal

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from caesura.worker.adapters.kafka.producer_handle import returns_within
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import CommittedOffset, EndAnswer, NextOffset, OutMessage
from tests.harness.clusters import RealCluster
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.parts.kafka_part import Kafka, unique

SHORT_S = 0.2
"""A stop this short does not fence the broker. With its only broker fenced, librdkafka (2.16) may throw away the only
address it has: a producer that does so ends its calls with BrokerError until it is rebuilt.
"""
LATER_S = 4.0
"""By then whoever was about to take the id over has done so: librdkafka asks a broker that is away each second."""


@pytest.fixture
def cluster(kafka: Kafka) -> Iterator[RealCluster]:
    """A cluster of a broker that may be stopped, with transactions that outlive the stop."""
    if not kafka.owned:
        pytest.skip("this broker is not ours to stop: unset KAFKA_BOOTSTRAP_SERVERS; Maven and Java bring one")
    with ExitStack() as clients:
        clients.callback(kafka.signal, signal.SIGCONT)
        yield RealCluster(kafka, "classic", 1, clients, transaction_timeout_ms=30_000, max_poll_interval_ms=60_000)


def test_the_outcome_of_an_unanswered_commit_is_what_is_read_back(kafka: Kafka, cluster: RealCluster) -> None:
    output, publisher, member = cluster.output(), cluster.publisher("worker"), Member(cluster.source())
    publisher.init_transactions(PATIENCE_S)
    until(lambda: member.held == {0}, member)
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"once"))
    offset = NextOffset(next_offset=1, metadata="id")
    publisher.send_offsets({0: offset}, member.source.membership(), PATIENCE_S)
    kafka.signal(signal.SIGSTOP)
    with pytest.raises(BrokerError):
        publisher.commit(SHORT_S)
    with pytest.raises(BrokerError):
        publisher.rebuild(SHORT_S)
    kafka.signal(signal.SIGCONT)
    publisher.rebuild(PATIENCE_S)
    found = member.committed()
    assert cluster.visible(output) == ([] if found is None else ["once"])
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"next"))
    publisher.commit(PATIENCE_S)
    assert cluster.visible(output)[-1:] == ["next"]


def test_offsets_for_a_gone_coordinator_fail_and_the_next_commit_works(kafka: Kafka, cluster: RealCluster) -> None:
    output, publisher, member = cluster.output(), cluster.publisher("worker"), Member(cluster.source())
    publisher.init_transactions(PATIENCE_S)
    until(lambda: member.held == {0}, member)
    membership = member.source.membership()
    publisher.begin()
    publisher.send_offsets({0: NextOffset(next_offset=0, metadata="first")}, membership, PATIENCE_S)
    publisher.commit(PATIENCE_S)  # from here on librdkafka remembers who coordinates the group
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"aborted"))
    kafka.kill()
    with pytest.raises((AbortableError, BrokerError)):
        publisher.send_offsets({0: NextOffset(next_offset=1, metadata="second")}, membership, SHORT_S)
    kafka.start()
    publisher.rebuild(PATIENCE_S)
    _commit_good(publisher, output, cluster)
    until(lambda: _found(member) == {0: CommittedOffset(next_offset=0, metadata="first")}, member)


@pytest.mark.parametrize(
    ("protocol", "how"),
    [
        ("classic", signal.SIGSTOP),
        ("consumer", signal.SIGKILL),
        pytest.param("classic", signal.SIGKILL, marks=pytest.mark.long),
        pytest.param("consumer", signal.SIGSTOP, marks=pytest.mark.long),
    ],
)
def test_a_member_with_an_unanswered_question_can_leave(
    kafka: Kafka, cluster: RealCluster, protocol: Literal["classic", "consumer"], how: signal.Signals
) -> None:
    settings = replace(cluster.settings(), group_protocol=protocol, group_id=unique("leaves"))
    source = KafkaWordSource(settings, cluster.topic, cluster.claims)
    member = Member(source)
    until(lambda: member.held == {0}, member)
    if how is signal.SIGSTOP:
        kafka.signal(how)
    else:
        kafka.kill()
    with pytest.raises(BrokerError):
        source.committed([0], 2.0)
    left = returns_within(PATIENCE_S / 2, source.close)
    if how is signal.SIGSTOP:
        kafka.signal(signal.SIGCONT)
    else:
        kafka.start()
    assert left, "it waits for the broker"


def test_after_an_unanswered_abort_a_new_producer_aborts(kafka: Kafka, cluster: RealCluster) -> None:
    output, publisher = cluster.output(), cluster.publisher("worker")
    _leave_open(publisher, output, cluster)
    kafka.signal(signal.SIGSTOP)
    with pytest.raises(BrokerError):
        publisher.abort(SHORT_S)
    kafka.signal(signal.SIGCONT)
    publisher.rebuild(PATIENCE_S)
    _commit_good(publisher, output, cluster)


def test_a_closed_producer_lets_go_of_a_transaction_that_nobody_can_abort(kafka: Kafka, cluster: RealCluster) -> None:
    output, publisher = cluster.output(), cluster.publisher("worker")
    _leave_open(publisher, output, cluster)
    kafka.kill()
    came_back = returns_within(PATIENCE_S / 2, publisher.close)
    kafka.start()
    assert came_back, "it waits for the broker"
    heir = cluster.publisher("worker")
    heir.init_transactions(PATIENCE_S)
    _commit_good(heir, output, cluster)


def test_a_producer_made_anew_lets_go_of_a_transaction_that_nobody_can_abort(
    kafka: Kafka, cluster: RealCluster
) -> None:
    output, publisher = cluster.output(), cluster.publisher("worker")
    _leave_open(publisher, output, cluster)
    kafka.kill()
    came_back = returns_within(PATIENCE_S / 2, lambda: _not_rebuilt(publisher))
    kafka.start()
    assert came_back, "it waits for the broker"
    publisher.rebuild(PATIENCE_S)
    _commit_good(publisher, output, cluster)


def test_a_producer_closed_before_its_brokers_answered_fences_no_producer(kafka: Kafka, cluster: RealCluster) -> None:
    output, publisher, heir = cluster.output(), cluster.publisher("worker"), cluster.publisher("worker")
    _leave_open(publisher, output, cluster)
    heir.init_transactions(PATIENCE_S)
    kafka.kill()
    _not_rebuilt(publisher)  # left alone, it goes on asking for the id
    publisher.close()
    kafka.start()
    time.sleep(LATER_S)
    _commit_good(heir, output, cluster)


def _leave_open(publisher: Publisher, output: str, cluster: RealCluster) -> None:
    publisher.init_transactions(PATIENCE_S)
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"aborted"))
    cluster.send(publisher)


def _not_rebuilt(publisher: Publisher) -> None:
    with pytest.raises(BrokerError):
        publisher.rebuild(SHORT_S)


def _found(member: Member) -> dict[int, CommittedOffset | None]:
    """Return what is committed; nothing where the group has expelled the member meanwhile."""
    try:
        return member.source.committed([0], PATIENCE_S)
    except BrokerError:
        return {}


def _commit_good(publisher: Publisher, output: str, cluster: RealCluster) -> None:
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"good"))
    publisher.commit(PATIENCE_S)
    assert cluster.visible(output) == ["good"]


def test_every_unanswered_broker_call_can_be_repeated(kafka: Kafka, cluster: RealCluster) -> None:
    publisher, source, reader = cluster.publisher("worker"), cluster.source(), cluster.reader()
    assert source.partition_count(PATIENCE_S) == 1
    assert reader.bounds(cluster.topic, 0, PATIENCE_S) == (0, 0)
    questions: list[Callable[[float], object]] = [
        publisher.init_transactions,
        lambda timeout_s: source.committed([0], timeout_s),
        lambda timeout_s: source.watermarks(0, timeout_s),
        lambda timeout_s: reader.bounds(cluster.topic, 0, timeout_s),
        source.partition_count,
    ]
    kafka.signal(signal.SIGSTOP)
    for ask in questions:
        with pytest.raises(BrokerError):
            ask(SHORT_S / 2)
    kafka.signal(signal.SIGCONT)
    for ask in questions:
        ask(PATIENCE_S)


def test_a_leader_that_does_not_answer_is_asked_again(kafka: Kafka, cluster: RealCluster) -> None:
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    assert member.at_end(0, 0)
    kafka.signal(signal.SIGSTOP)
    began_s = time.monotonic()
    member.source.ask_ends({0: 0}, SHORT_S)
    assert time.monotonic() - began_s < SHORT_S
    answers: list[EndAnswer] = []
    while not answers:
        answers = member.source.end_answers()
    assert [one.at_end for one in answers] == [None]
    assert answers[0].failure
    kafka.signal(signal.SIGCONT)
    assert member.at_end(0, 0)


def test_reading_goes_on_after_a_broker_crashed_and_came_back(kafka: Kafka, cluster: RealCluster) -> None:
    cluster.append("before")
    member = Member(cluster.source())
    until(lambda: member.values() == ["before"], member)
    kafka.kill()
    for _ in range(20):
        member.step()
    kafka.start()
    cluster.append("after")
    until(lambda: member.values()[-1:] == ["after"], member)


def test_a_client_that_fails_in_the_midst_of_a_poll_loses_nothing_of_it(cluster: RealCluster) -> None:
    cluster.append("0", "1", "2")
    source = cluster.source()
    assert isinstance(source, KafkaWordSource)
    source._consumer = FailsOnce(source._consumer)  # type: ignore[assignment]
    member = Member(source)
    until(lambda: len(member.records) == 3, member)
    assert member.values() == ["0", "1", "2"]
    assert source._consumer.failed  # type: ignore[attr-defined]


class FailsOnce:
    """A client whose ``consume`` fails once, as it may after its ``poll`` gave a record."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self.failed = False

    def consume(self, count: int, timeout_s: float) -> list[Message]:
        if not self.failed:
            self.failed = True
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return self._consumer.consume(count, timeout_s)

    def __getattr__(self, name: str) -> object:
        return getattr(self._consumer, name)
