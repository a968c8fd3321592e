"""A broker that is silent, crashes or lacks a topic: what passes by itself is a BrokerError and succeeds later.

The tests have the broker to themselves; each crash costs seconds, so each has several clients meet it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from typing import Literal

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from caesura.worker.adapters.kafka.producer_handle import returns_within
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import AbortableError, BrokerError, FatalError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import CommittedOffset, EndAnswer, NextOffset, OutMessage, PartitionStalled
from tests.harness.clusters import RealCluster
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.parts.kafka_part import OwnKafka, unique
from tests.harness.waiting import wait_until

SHORT_S = 0.2
"""A stop this short does not fence the broker. With its only broker fenced, librdkafka (2.16) may throw away the only
address it has: a producer that does so ends its calls with BrokerError until it is rebuilt.
"""
LATER_S = 4.0
"""By then whoever was about to take the id over has done so: librdkafka asks a broker that is away each second."""
SEEN_S = 20.0
"""Less than a transaction's time-out."""


@pytest.fixture
def cluster(own_kafka: OwnKafka) -> Iterator[RealCluster]:
    """Topics on a broker that may be stopped, with transactions that outlive the stop."""
    with ExitStack() as clients:
        clients.callback(own_kafka.process.signal, signal.SIGCONT)
        yield RealCluster(own_kafka, "classic", 1, clients, transaction_timeout_ms=30_000, max_poll_interval_ms=60_000)


@contextmanager
def silence(kafka: OwnKafka) -> Iterator[None]:
    kafka.process.signal(signal.SIGSTOP)
    yield
    kafka.process.signal(signal.SIGCONT)


@contextmanager
def absence(kafka: OwnKafka) -> Iterator[None]:
    kafka.process.kill()
    yield
    kafka.process.start()


def test_the_outcome_of_an_unanswered_commit_is_what_is_read_back(own_kafka: OwnKafka, cluster: RealCluster) -> None:
    output, publisher, member = cluster.output(), cluster.publisher("worker"), Member(cluster.source())
    publisher.init_transactions(PATIENCE_S)
    until(lambda: member.held == {0}, member)
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"once"))
    offset = NextOffset(next_offset=1, metadata="id")
    publisher.send_offsets({0: offset}, member.source.membership(), PATIENCE_S)
    with silence(own_kafka):
        with pytest.raises(BrokerError):
            publisher.commit(SHORT_S)
        with pytest.raises(BrokerError):
            publisher.rebuild(SHORT_S)
    publisher.rebuild(PATIENCE_S)
    found = member.committed()
    assert cluster.visible(output) == ([] if found is None else ["once"])
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"next"))
    publisher.commit(PATIENCE_S)
    assert cluster.visible(output)[-1:] == ["next"]


def test_after_an_unanswered_abort_a_new_producer_aborts(own_kafka: OwnKafka, cluster: RealCluster) -> None:
    output, publisher = cluster.output(), cluster.publisher("worker")
    _leave_open(publisher, output, cluster)
    with silence(own_kafka), pytest.raises(BrokerError):
        publisher.abort(SHORT_S)
    publisher.rebuild(PATIENCE_S)
    _commit_good(publisher, output, cluster)


def test_every_unanswered_broker_call_can_be_repeated(own_kafka: OwnKafka, cluster: RealCluster) -> None:
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
    with silence(own_kafka):
        for ask in questions:
            with pytest.raises(BrokerError):
                ask(SHORT_S / 2)
    for ask in questions:
        ask(PATIENCE_S)


def test_a_leader_that_does_not_answer_is_asked_again(own_kafka: OwnKafka, cluster: RealCluster) -> None:
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    assert member.at_end(0, 0)
    with silence(own_kafka):
        began_s = time.monotonic()
        member.source.ask_ends({0: 0}, SHORT_S)
        assert time.monotonic() - began_s < SHORT_S
        answers: list[EndAnswer] = []
        while not answers:
            answers = member.source.end_answers()
        assert [one.at_end for one in answers] == [None]
        assert answers[0].failure
    assert member.at_end(0, 0)


@pytest.mark.parametrize("outage", [silence, absence])
def test_members_with_unanswered_questions_can_leave_and_those_that_stay_read_on(
    own_kafka: OwnKafka, cluster: RealCluster, outage: Callable[[OwnKafka], AbstractContextManager[None]]
) -> None:
    cluster.append("before")
    staying = Member(cluster.source())
    leaving = [_member_of_its_own(cluster, protocol) for protocol in ("classic", "consumer")]
    until(lambda: staying.values() == ["before"] and all(one.held == {0} for one in leaving), staying, *leaving)
    with outage(own_kafka):
        for one in leaving:
            with pytest.raises(BrokerError):
                one.source.committed([0], 2.0)
        left = [returns_within(PATIENCE_S / 2, one.source.close) for one in leaving]
        for _ in range(20):
            staying.step()
    assert left == [True, True], "they wait for the broker"
    cluster.append("after")
    until(lambda: staying.values()[-1:] == ["after"], staying)


def test_a_crash_holds_no_transaction_up_and_the_next_one_commits(own_kafka: OwnKafka, cluster: RealCluster) -> None:
    output, member = cluster.output(), Member(cluster.source())
    offsets, closed, rebuilt, former, heir = (
        cluster.publisher(name) for name in ("offsets", "closed", "rebuilt", "same", "same")
    )
    offsets.init_transactions(PATIENCE_S)
    until(lambda: member.held == {0}, member)
    membership = member.source.membership()
    offsets.begin()
    offsets.send_offsets({0: NextOffset(next_offset=0, metadata="first")}, membership, PATIENCE_S)
    offsets.commit(PATIENCE_S)  # from here on librdkafka remembers who coordinates the group
    offsets.begin()
    offsets.publish(OutMessage(topic=output, partition=0, key=None, value=b"aborted"))
    for publisher in (closed, rebuilt, former):
        _leave_open(publisher, output, cluster)
    heir.init_transactions(PATIENCE_S)
    with absence(own_kafka):
        with pytest.raises((AbortableError, BrokerError)):
            offsets.send_offsets({0: NextOffset(next_offset=1, metadata="second")}, membership, SHORT_S)
        closes = returns_within(PATIENCE_S / 2, closed.close)
        comes_back = returns_within(PATIENCE_S / 2, lambda: _not_rebuilt(rebuilt))
        _not_rebuilt(former)  # left alone, it goes on asking for the id
        former.close()
    assert closes, "a close waits for the broker"
    assert comes_back, "a producer made anew waits for the broker"
    time.sleep(LATER_S)
    _commit_good(heir, output, cluster)
    for publisher in (offsets, rebuilt):
        publisher.rebuild(PATIENCE_S)
        _commit_good(publisher, output, cluster)
    successor = cluster.publisher("closed")
    successor.init_transactions(PATIENCE_S)
    _commit_good(successor, output, cluster)
    until(lambda: _found(member) == {0: CommittedOffset(next_offset=0, metadata="first")}, member)


def _member_of_its_own(cluster: RealCluster, protocol: Literal["classic", "consumer"]) -> Member:
    settings = replace(cluster.settings(), group_protocol=protocol, group_id=unique("leaves"))
    return Member(KafkaWordSource(settings, cluster.topic, cluster.claims))


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
    """Commit one more record: it is seen before open transactions would time out, and no aborted one is."""
    before = cluster.visible(output)
    publisher.begin()
    publisher.publish(OutMessage(topic=output, partition=0, key=None, value=b"good"))
    publisher.commit(PATIENCE_S)
    seen = ["good"] * (len(before) + 1)
    wait_until(lambda: cluster.visible(output) == seen, lambda: str(cluster.visible(output)), within_s=SEEN_S)


def test_an_offset_beyond_the_end_of_its_leader_epoch_stalls_its_partition(
    own_kafka: OwnKafka, cluster: RealCluster
) -> None:
    cluster.append("0", "1", "2")
    own_kafka.process.stop()
    own_kafka.process.start()  # with another leader epoch, so that the first one's records end at 3
    cluster.append("3", "4", "5", "6")
    source, publisher = cluster.source(), cluster.publisher("worker")
    member = Member(source, claims=False)
    until(lambda: 0 in member.held, member)
    source.seek(0, 0)
    source.resume([0])
    until(lambda: len(member.records) == 7, member)
    first, last = member.records[0].leader_epoch, member.records[-1].leader_epoch
    assert first is not None
    assert last is not None
    assert first < last

    publisher.init_transactions(PATIENCE_S)
    publisher.begin()
    offset = NextOffset(next_offset=5, metadata="m", leader_epoch=last)
    publisher.send_offsets({0: offset}, source.membership(), PATIENCE_S)
    publisher.commit(PATIENCE_S)
    until(lambda: _leader_epoch(member) == last, member)

    member.records.clear()
    source.seek(0, 5, last)
    until(lambda: len(member.records) == 2, member)
    assert member.values() == ["5", "6"]

    source.seek(0, 5, first)
    stalled: list[PartitionStalled] = []
    while not stalled:
        stalled += [item for item in source.poll(10, 0.5) if isinstance(item, PartitionStalled)]
    assert "truncation" in stalled[0].reason


def _leader_epoch(member: Member) -> int | None:
    committed = _found(member).get(0)
    return None if committed is None else committed.leader_epoch


def test_a_cluster_that_makes_topics_on_request_makes_none_of_ours(own_kafka: OwnKafka, cluster: RealCluster) -> None:
    with closing(KafkaPublisher(cluster.settings(), "worker", cluster.topic, outputs=["nobody.made.it"])) as publisher:
        for _ in range(3):
            with pytest.raises((BrokerError, FatalError), match=r"there is no topic nobody\.made\.it"):
                publisher.init_transactions(PATIENCE_S)
    assert "nobody.made.it" not in own_kafka.admin.list_topics(timeout=PATIENCE_S).topics


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
