"""An offset committed with its leader epoch is not read on from where that epoch's records end before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Producer

from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import BrokerError
from caesura.worker.ports.records import NextOffset, PartitionStalled
from tests.harness.group_member import PATIENCE_S, Member, text, until
from tests.harness.parts.kafka_part import Kafka, find_kafka
from tests.harness.parts.lookup import NotFound

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]


@pytest.fixture
def own_kafka() -> Iterator[Kafka]:
    try:
        kafka = find_kafka()
    except NotFound as missing:
        pytest.skip(str(missing))
    if kafka.process is None:
        pytest.skip("this broker is not ours to stop")
    yield kafka
    assert kafka.close is not None
    kafka.close()


def write(kafka: Kafka, topic: str, *values: str) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for value in values:
        producer.produce(topic, value=value.encode(), key=b"key", partition=0)
    assert producer.flush(PATIENCE_S) == 0


def leader_epoch(member: Member) -> int | None:
    try:
        committed = member.source.committed([0], 2.0)[0]
    except BrokerError:
        return None
    return None if committed is None else committed.leader_epoch


def test_an_offset_beyond_the_end_of_its_leader_epoch_stalls_its_partition(own_kafka: Kafka) -> None:
    topic, claims = own_kafka.create_topic("words"), own_kafka.create_topic("claims")
    write(own_kafka, topic, "0", "1", "2")
    own_kafka.stop()
    own_kafka.start()  # with another leader epoch, so that the first one's records end at 3
    write(own_kafka, topic, "3", "4", "5", "6")
    settings = KafkaSettings(bootstrap_servers=own_kafka.bootstrap, group_id=topic)
    with (
        closing(KafkaWordSource(settings, topic, claims)) as source,
        closing(KafkaPublisher(settings, topic, topic)) as publisher,
    ):
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
        until(lambda: leader_epoch(member) == last, member)

        member.records.clear()
        source.seek(0, 5, last)
        until(lambda: len(member.records) == 2, member)
        assert [text(one) for one in member.records] == ["5", "6"]

        source.seek(0, 5, first)
        stalled: list[PartitionStalled] = []
        while not stalled:
            stalled += [item for item in source.poll(10, 0.5) if isinstance(item, PartitionStalled)]
        assert "truncation" in stalled[0].reason
