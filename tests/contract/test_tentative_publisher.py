"""The producer of unfrozen words, the twin and the real one: what is offered is there or dropped; nothing raises."""

from __future__ import annotations

import time

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.tentative_publisher import KafkaTentativePublisher
from caesura.worker.adapters.memory.publisher import MemoryTentativePublisher
from tests.harness.parts.committed import committed_records
from tests.harness.parts.kafka_part import Kafka
from tests.harness.waiting import wait_until


def test_the_in_memory_publisher_keeps_or_drops_offered_words() -> None:
    kept, dropping = MemoryTentativePublisher(), MemoryTentativePublisher(failing=True)
    assert kept.offer(1, b"a", b"x")
    assert not dropping.offer(1, b"a", b"x")
    assert (kept.records, dropping.records) == ([(1, b"a", b"x")], [])
    assert (kept.take_dropped(), dropping.take_dropped(), dropping.take_dropped()) == (0, 1, 0)


def test_offered_words_reach_the_requested_partition(kafka: Kafka, deployment: str) -> None:
    topic = f"{deployment}.tentative"
    kafka.create_topics_named({topic: {}}, 3)
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap)
    publisher = KafkaTentativePublisher(settings, topic)
    for number in range(20):
        assert publisher.offer(2, b"ann", str(number).encode())
    wait_until(
        lambda: len(committed_records(kafka.admin, settings, topic)) >= 20,
        # What is queued goes out when the producer is asked for something.
        meanwhile=lambda: publisher.offer(0, b"ben", b"on with it"),
    )
    found = committed_records(kafka.admin, settings, topic)
    publisher.close()
    assert [one.value for one in found if one.partition == 2] == [str(number).encode() for number in range(20)]


def test_a_topic_that_is_not_there_and_a_broker_that_is_away_cost_nothing(kafka: Kafka, deployment: str) -> None:
    for bootstrap in (kafka.bootstrap, "127.0.0.1:1"):
        publisher = KafkaTentativePublisher(KafkaSettings(bootstrap_servers=bootstrap), f"{deployment}.nowhere")
        began_s = time.monotonic()
        taken = [publisher.offer(number % 3, b"ann", b"x" * 100) for number in range(5000)]
        assert not all(taken)  # the queue is small, and what does not fit is dropped
        assert publisher.take_dropped() >= taken.count(False)
        publisher.close()
        assert time.monotonic() - began_s < 5
