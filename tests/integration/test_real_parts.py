"""The real parts that the other tests stand on."""

from __future__ import annotations

import signal

import pytest
import redis
from confluent_kafka import Consumer, Producer

from caesura.worker.ports.commit_steps import CommitStep
from caesura.worker.ports.observer import Event, SilentObserver, TookOver
from tests.harness.parts.kafka_part import Kafka, unique
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import Kill, RealWorld
from tests.harness.speech import check_every_word_once, event, speech


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


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_words_come_out_once_and_in_order(kafka: Kafka, redis_url: str, deployment: str, group_protocol: str) -> None:
    world = RealWorld(kafka, redis_url, deployment, group_protocol=group_protocol)
    events = [one for name in ("ann", "ben", "cy") for one in speech(name, 40)]
    world.send(*events)
    worker = world.worker()
    worker.turn_until(lambda: len(world.segments()) > 0 and sum(one.session_end for one in world.segments()) == 3)
    worker.worker.drain()
    check_every_word_once(events, world.segments())


def test_silence_freezes_without_new_input(kafka: Kafka, redis_url: str, deployment: str) -> None:
    world = RealWorld(kafka, redis_url, deployment)
    world.send(event("ann", 0, "we", "wait"))
    worker = world.worker()
    worker.turn_until(lambda: bool(world.segments()))
    assert [one.cause for one in world.segments()] == ["silence"]
    worker.worker.drain()


class Takeovers(SilentObserver):
    """Keeps whose transactions were ended."""

    def __init__(self) -> None:
        self.peers: list[str] = []

    def note(self, event: Event) -> None:
        if isinstance(event, TookOver):
            self.peers.append(event.transactional_id)


def test_a_new_owner_ends_the_transaction_of_a_dead_peer_and_goes_on(
    kafka: Kafka, redis_url: str, deployment: str
) -> None:
    # Left alone, the broker would hold the transaction open, and the partition up, for ten minutes.
    world = RealWorld(kafka, redis_url, deployment, partitions=1, kafka_changes={"transaction_timeout_ms": 600_000})
    events = speech("ann", 30)
    world.send(*events[:4])
    with world.process(0, kill=Kill(at=CommitStep.OFFSETS_SENT, passes=1)) as dying:
        dying.wait()
    world.send(*events[4:])
    heard = Takeovers()
    worker = world.worker(1, observer=heard, takeover_after_ms=1_000)
    worker.turn_until(lambda: any(one.session_end for one in world.segments()), timeout_s=60.0)
    worker.worker.drain()
    assert heard.peers == [f"{deployment}-0"]
    check_every_word_once(events, world.segments())
