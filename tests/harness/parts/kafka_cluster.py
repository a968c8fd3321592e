"""Three of Apache Kafka's brokers as one cluster: every topic on all three, writes acknowledged by two.

Each broker has a second listener, OUTER, advertised at an address of the caller's: a proxy between it and the workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from confluent_kafka.admin import AdminClient

from caesura.worker.embedded.guarded_process import free_port
from tests.harness.parts.kafka_broker import KafkaProcess, new_cluster_id
from tests.harness.parts.kafka_part import create_topics

_SETTINGS = """
node.id={node}
controller.quorum.voters={voters}
listeners=INNER://127.0.0.1:{inner},OUTER://127.0.0.1:{outer},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=INNER://127.0.0.1:{inner},OUTER://127.0.0.1:{advertised}
listener.security.protocol.map=INNER:PLAINTEXT,OUTER:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INNER
broker.session.timeout.ms=2000
auto.leader.rebalance.enable=false
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
replica.lag.time.max.ms=3000
"""

_ASKED_S = 20.0


class KafkaCluster:
    """Three brokers. ``outer`` are the ports at which the OUTER listeners can be connected to.

    advertised: for each broker the port that stands before its OUTER listener.
    """

    def __init__(self, outer: Sequence[int], advertised: Sequence[int]) -> None:
        controllers = [free_port() for _ in outer]
        inner = [free_port() for _ in outer]
        voters = ",".join(f"{node}@127.0.0.1:{port}" for node, port in enumerate(controllers, 1))
        cluster = new_cluster_id()
        self.nodes = [
            KafkaProcess(
                port=inner[i],
                cluster=cluster,
                settings=_SETTINGS.format(
                    node=i + 1,
                    voters=voters,
                    inner=inner[i],
                    outer=outer[i],
                    controller=controllers[i],
                    advertised=advertised[i],
                ),
            )
            for i in range(len(outer))
        ]
        self.bootstrap = ",".join(node.bootstrap for node in self.nodes)
        self._admin: AdminClient | None = None

    @property
    def admin(self) -> AdminClient:
        """An admin client that goes around the proxies."""
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        return self._admin

    def leader(self, topic: str) -> int:
        """Return who leads a topic's first partition, as one of the brokers tells it: 1 to 3, -1 for nobody."""
        return self.admin.list_topics(topic, timeout=_ASKED_S).topics[topic].partitions[0].leader

    def start(self) -> None:
        """Start all brokers and wait until each answers."""
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.await_answer()

    def create_topics(self, topics: Mapping[str, Mapping[str, str]], partitions: int) -> None:
        """Create topics on all three brokers, and wait until their leaders serve them."""
        create_topics(self.admin, self.bootstrap, topics, partitions, replicas=3)

    def close(self, keep: Path | None = None) -> None:
        """End the brokers and remove their logs; ``keep`` is a folder that is to have copies, one for each broker."""
        for number, node in enumerate(self.nodes, start=1):
            node.close(None if keep is None else keep / f"broker-{number}")
