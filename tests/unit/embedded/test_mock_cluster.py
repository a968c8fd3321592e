"""What the demo stands on: librdkafka's mock cluster, shared by clients that know nothing of each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.embedded.mock_cluster import MOCK_PARTITIONS, PlainPublisher, mock_cluster
from caesura.worker.errors import FatalError
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage, Record
from tests.harness.waiting import wait_until

PATIENCE_S = 20.0


class Claiming:
    """A listener that reads every new partition from its start."""

    def __init__(self, source: KafkaWordSource) -> None:
        self.source = source
        self.new: list[int] = []
        self.held: list[int] = []
        self.records: list[Record] = []

    def on_assigned(self, partitions: Sequence[int]) -> None:
        self.new.extend(partitions)

    def on_revoked(self, partitions: Sequence[int]) -> None:
        self.held = [partition for partition in self.held if partition not in partitions]

    def on_lost(self, partitions: Sequence[int]) -> None:
        self.on_revoked(partitions)

    def poll(self) -> None:
        self.records += [item for item in self.source.poll(100, 0.1) if isinstance(item, Record)]
        for partition in self.new:
            self.source.seek(partition, 0)
        self.source.resume(self.new)
        self.held += self.new
        self.new = []


def until(found: Callable[[], object], member: Claiming) -> None:
    wait_until(found, within_s=PATIENCE_S, every_s=0, meanwhile=member.poll)


@pytest.fixture
def bootstrap() -> Iterator[str]:
    """A mock cluster with three topics."""
    with mock_cluster(["words", "segments", "claims"]) as servers:
        yield servers


def test_words_go_in_and_segments_and_offsets_out(bootstrap: str) -> None:
    settings = KafkaSettings(bootstrap_servers=bootstrap)
    source = KafkaWordSource(settings, "words", "claims")
    assert source.partition_count(PATIENCE_S) == MOCK_PARTITIONS
    publisher = PlainPublisher(settings, "demo-0", source)
    publisher.init_transactions(PATIENCE_S)
    member = Claiming(source)
    source.subscribe(member)
    until(lambda: len(member.held) == MOCK_PARTITIONS, member)
    publisher.begin()
    publisher.publish(OutMessage(topic="words", partition=2, key=b"s", value=b"a word"))
    publisher.send_offsets({2: NextOffset(next_offset=1, metadata="id")}, source.membership(), PATIENCE_S)
    publisher.commit(PATIENCE_S)
    until(lambda: member.records, member)
    assert [(record.partition, record.value) for record in member.records] == [(2, b"a word")]
    assert source.committed([2], PATIENCE_S) == {2: CommittedOffset(next_offset=1, metadata="id", leader_epoch=0)}
    source.close()
    publisher.close()


def test_an_abort_forgets_the_offsets(bootstrap: str) -> None:
    settings = KafkaSettings(bootstrap_servers=bootstrap)
    source = KafkaWordSource(settings, "words", "claims")
    publisher = PlainPublisher(settings, "demo-0", source)
    publisher.rebuild(PATIENCE_S)
    member = Claiming(source)
    source.subscribe(member)
    until(lambda: member.held, member)
    publisher.begin()
    publisher.send_offsets({0: NextOffset(next_offset=1, metadata="id")}, source.membership(), PATIENCE_S)
    publisher.abort(PATIENCE_S)
    publisher.begin()
    publisher.commit(PATIENCE_S)
    assert source.committed([0], PATIENCE_S) == {0: None}
    source.close()
    publisher.close()
    with pytest.raises(FatalError):
        publisher.publish(OutMessage(topic="words", partition=0, key=None, value=b"x"))


def test_two_clusters_know_nothing_of_each_other(bootstrap: str) -> None:
    with mock_cluster(["elsewhere"], brokers=2) as other:
        assert len(other.split(",")) == 2
        assert set(other.split(",")).isdisjoint(bootstrap.split(","))
