"""The real parts that the other tests stand on."""

from __future__ import annotations

import signal

import pytest
import redis
from confluent_kafka import Consumer, Producer

from tests.harness.parts.kafka_part import Kafka, unique
from tests.harness.parts.redis_part import RedisServer


def test_an_aborted_transaction_is_invisible_so_the_broker_is_no_mock(kafka: Kafka) -> None:
    topic = kafka.create_topic("parts", partitions=1)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": unique("parts")})
    producer.init_transactions(30)
    for value, end in ((b"aborted", producer.abort_transaction), (b"committed", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush(10)
        end(10)
    reader = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": unique("parts"),
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    reader.subscribe([topic])
    record = reader.poll(30)
    reader.close()
    assert record is not None
    assert record.value() == b"committed"


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_our_broker_comes_back_with_its_topics_at_the_same_address(kafka: Kafka, end: str) -> None:
    if not kafka.owned:
        pytest.skip("needs a broker of our own: unset KAFKA_BOOTSTRAP_SERVERS")
    topic = kafka.create_topic("parts", partitions=3)
    getattr(kafka, end)()
    kafka.start()
    assert len(kafka.admin.list_topics(topic, timeout=20).topics[topic].partitions) == 3


def test_our_redis_comes_back_empty_at_the_same_address(redis_server: RedisServer) -> None:
    if not redis_server.owned:
        pytest.skip("needs a Redis of our own: unset REDIS_URL")
    with redis_server.client() as client:
        client.set("key", "value")
        redis_server.stop()
        with pytest.raises(redis.ConnectionError):
            client.ping()
        redis_server.start()
        assert client.get("key") is None


def test_a_stopped_redis_is_silent_and_goes_on_where_it_was(redis_server: RedisServer) -> None:
    if not redis_server.owned:
        pytest.skip("needs a Redis of our own: unset REDIS_URL")
    with redis.Redis.from_url(redis_server.url) as patient:
        patient.set("key", "value")
        redis_server.signal(signal.SIGSTOP)
        with (
            redis.Redis.from_url(redis_server.url, socket_timeout=0.3, retry=None) as client,
            pytest.raises(redis.TimeoutError),
        ):
            client.ping()
        redis_server.signal(signal.SIGCONT)
        assert patient.get("key") == b"value"
