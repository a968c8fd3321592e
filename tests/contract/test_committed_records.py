"""What the tests see of a topic: all that was committed, also where its markers are still being written."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from caesura.worker.adapters.kafka.settings import KafkaSettings
from tests.harness.parts.committed import committed_records, last_stable_offset_lags
from tests.harness.parts.kafka_part import Kafka

pytestmark = pytest.mark.kafka


def test_the_last_stable_offset_lags_while_a_transaction_is_open(kafka: Kafka, deployment: str) -> None:
    topic = kafka.create_topic("output", 2)
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap, group_id=deployment)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": deployment, "log_level": 0})
    producer.init_transactions(30)
    for number in range(20):  # each commit is read at once
        producer.begin_transaction()
        producer.produce(topic, str(number).encode(), partition=number % 2)
        assert producer.flush(30) == 0
        assert last_stable_offset_lags(kafka.admin, topic, [0, 1])
        producer.commit_transaction(30)
        seen = {record.value for record in committed_records(kafka.admin, settings, topic)}
        assert seen == {str(earlier).encode() for earlier in range(number + 1)}
    assert not last_stable_offset_lags(kafka.admin, topic, [0, 1])
