"""All that is under chaos: three brokers, a Redis of either form, links between them and the workers, the topics."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from confluent_kafka import Consumer, Producer, TopicPartition

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology
from caesura.worker.embedded.guarded_process import free_port
from caesura.worker.ports.records import CommittedOffset, Record
from tests.chaos.fleet import Fleet
from tests.chaos.kept import Kept
from tests.chaos.plan import Plan
from tests.chaos.redis_fleet import RedisFleet, RedisPair, RedisRing
from tests.chaos.timed import TIMED_RULES
from tests.harness.checker import Output
from tests.harness.command import release
from tests.harness.parts.committed import committed_records
from tests.harness.parts.kafka_cluster import KafkaCluster
from tests.harness.parts.proxy import Proxy
from tests.harness.pipeline import Pipeline
from tests.harness.producers import Sent
from tests.harness.reference import RULES, output_of

DEPLOYMENT = "chaos"
WORKERS_AT_START = 4
_PLACES = 6
_ASKED_S = 10.0
_SENT_WITHIN_S = 60.0
_STAMPED = {"message.timestamp.type": "LogAppendTime"}


class ChaosWorld:
    """A context manager; whatever it started ends with it."""

    def __init__(self, plan: Plan, partitions: int = 6) -> None:
        self.partitions = partitions
        self.protocol = plan.protocol
        self._plan = plan
        self._stack = ExitStack()
        self.redis: RedisFleet

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start(self) -> None:
        proxy = self._stack.enter_context(Proxy())
        outer = [free_port() for _ in range(3)]
        self.broker_links = [proxy.link(port) for port in outer]
        self.kafka = KafkaCluster(outer, [link.port for link in self.broker_links])
        folder = self._plan.folder
        self._stack.callback(self.kafka.close, None if folder is None else folder / "brokers")
        self.kafka.start()
        drawn = random.Random(f"ring {self._plan.seed}")
        self.redis = RedisRing(proxy, drawn) if self._plan.redis == "cluster" else RedisPair(proxy, drawn)
        self._stack.callback(self.redis.close)
        topics = {f"{DEPLOYMENT}.{name}": _STAMPED for name in ("words", "segments", "dead", "de")}
        topics |= {f"{DEPLOYMENT}.ledger": {"cleanup.policy": "compact"}, f"{DEPLOYMENT}.claims": {}}
        self.kafka.create_topics(topics, self.partitions)
        where: dict[str, object] = {"addresses": self.redis.addresses, "topology": self.redis.topology}
        self.fleet = Fleet(
            [self._pipeline(ordinal) for ordinal in range(_PLACES)],
            where,
            self._plan.folder,
            before=None if self._plan.before is None else self._stack.enter_context(release(self._plan.before)),
        )
        self._stack.callback(self.fleet.close)

    def _pipeline(self, ordinal: int) -> Pipeline:
        static = {"group_instance_id": f"{DEPLOYMENT}-0"} if self.protocol == "classic" and ordinal == 0 else {}
        return Pipeline(
            bootstrap=",".join(f"127.0.0.1:{link.port}" for link in self.broker_links),
            redis_url="",
            deployment=DEPLOYMENT,
            ordinal=ordinal,
            group_protocol=self.protocol,
            changes={
                "commit_interval_ms": 200,
                "commit_timeout_s": 5.0,
                "dead_letter_limit": 1_000_000,
            },
            kafka_changes={"request_timeout_ms": 3_000, **static},
            rules={**RULES, **TIMED_RULES} if self._plan.timed else dict(RULES),
        )

    def send(self, records: Sequence[Sent]) -> None:
        """Append records to the input topic, past the proxies. RuntimeError where the brokers do not take them."""
        producer = Producer({"bootstrap.servers": self.kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
        for one in records:
            producer.produce(f"{DEPLOYMENT}.words", one.value, one.key, one.partition)
        if producer.flush(_SENT_WITHIN_S):
            raise RuntimeError("the brokers did not take what was sent to them")

    def records(self, name: str) -> list[Record]:
        """Return what a ``read_committed`` reader sees of a topic, partition by partition."""
        settings = KafkaSettings(bootstrap_servers=self.kafka.bootstrap, group_id=f"{DEPLOYMENT}-outside")
        return committed_records(self.kafka.admin, settings, f"{DEPLOYMENT}.{name}")

    def store(self) -> RedisSessionStore:
        """Return a client of the sessions' store; to be closed."""
        where = RedisSettings(addresses=tuple(self.redis.addresses), topology=RedisTopology(self.redis.topology))
        return RedisSessionStore(where, deployment=DEPLOYMENT, topic=f"{DEPLOYMENT}.words")

    def kept(self) -> Kept:
        """Return what is kept when nobody is at work any more."""
        options = {"bootstrap.servers": self.kafka.bootstrap, "group.id": DEPLOYMENT, "log_level": 0}
        consumer = Consumer({**options, "isolation.level": "read_committed"})
        topic = f"{DEPLOYMENT}.words"
        try:
            places = [TopicPartition(topic, partition) for partition in range(self.partitions)]
            offsets = {
                one.partition: CommittedOffset(next_offset=one.offset, metadata=one.metadata or "")
                for one in consumer.committed(places, _ASKED_S)
            }
            ends = {
                one.partition: consumer.get_watermark_offsets(one, timeout=_ASKED_S, cached=False)[1] for one in places
            }
        finally:
            consumer.close()
        store = self.store()
        try:
            fields = {partition: dict(store.load(partition)) for partition in range(self.partitions)}
        finally:
            store.close()
        return Kept(ends=ends, offsets=offsets, fields=fields, ledger=self.records("ledger"))

    def output(self) -> Output:
        """Return all that came out so far."""
        return output_of(self.records("segments"), self.records("de"), self.records("dead"))
