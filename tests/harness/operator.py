"""An operator at one deployment on a real Kafka and a real Redis: its commands, its worker, what its topics hold."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from caesura.worker.adapters.redis.settings import RedisSettings
from tests.harness.command import CAESURA, outside, started
from tests.harness.parts.kafka_part import Kafka
from tests.harness.places import ROOT
from tests.harness.waiting import comes

__all__ = ["Operator"]


class Operator:
    """Runs commands with one deployment's settings in the environment."""

    def __init__(self, kafka: Kafka, redis_url: str, deployment: str) -> None:
        redis = RedisSettings.from_url(redis_url)
        self.kafka = kafka
        self.deployment = deployment
        self.environ = outside() | {
            "CAESURA_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap,
            "CAESURA_REDIS_ADDRESSES": redis.addresses[0],
            "CAESURA_REDIS_DATABASE": str(redis.database),
            "CAESURA_WORKER_DEPLOYMENT": deployment,
            "CAESURA_WORKER_INPUT_TOPIC": f"{deployment}.words",
            "CAESURA_WORKER_SEGMENT_TOPIC": f"{deployment}.segments",
            "CAESURA_WORKER_DEAD_LETTER_TOPIC": f"{deployment}.dead",
            "CAESURA_WORKER_HTTP_PORT": "0",
            "NO_COLOR": "1",
        }

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*CAESURA, *arguments],
            cwd=ROOT,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Have a worker run until the end of the block; it must end well when it is told to."""
        with started(
            *CAESURA, "worker", environ=self.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as worker:
            yield
            worker.terminate()
            logged, _ = worker.communicate(timeout=60)
        assert worker.returncode == 0, logged

    def send(self, value: bytes, key: bytes) -> None:
        producer = Producer({"bootstrap.servers": self.kafka.bootstrap})
        producer.produce(f"{self.deployment}.words", value, key, 0)
        assert producer.flush(20) == 0

    def values(self, topic: str) -> list[bytes]:
        consumer = Consumer(
            {"bootstrap.servers": self.kafka.bootstrap, "group.id": "none", "enable.partition.eof": True}
        )
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        found: list[bytes] = []
        while (message := consumer.poll(10)) is not None and message.error() is None:
            found.append(message.value() or b"")
        consumer.close()
        return found

    def until(self, holds: Callable[[str], bool], *arguments: str) -> str:
        shown: list[str] = []

        def held() -> bool:
            shown.append(self.run(*arguments).stdout)
            return holds(shown[-1])

        comes(held, within_s=60)
        return shown[-1]
