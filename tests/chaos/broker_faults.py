"""What happens to the brokers of a cluster: killed, restarted, stopped for a while, leaders moved; then in sync."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable

from confluent_kafka import ElectionType, TopicPartition

from tests.chaos.schedule import FaultKind
from tests.harness.parts.kafka_cluster import KafkaCluster
from tests.harness.waiting import comes

__all__ = ["BrokerFaults"]

_IN_SYNC_WITHIN_S = 60.0


class BrokerFaults:
    """Strikes a cluster. Every call blocks."""

    def __init__(self, kafka: KafkaCluster) -> None:
        self._kafka = kafka

    def strike(self, kind: FaultKind, node: int, lasts_s: float) -> None:
        """Do it, and wait until all replicas are in sync again; RuntimeError where they never are."""
        struck = self._kafka.nodes[node]

        def restart(end: Callable[[], None]) -> None:
            end()
            time.sleep(lasts_s)
            struck.launch()
            struck.await_answer()

        def pause() -> None:
            struck.signal(signal.SIGSTOP)
            try:
                time.sleep(lasts_s)
            finally:
                struck.signal(signal.SIGCONT)

        actions: dict[FaultKind, Callable[[], None]] = {
            FaultKind.BROKER_KILL: lambda: restart(struck.kill),
            FaultKind.BROKER_RESTART: lambda: restart(struck.stop),
            FaultKind.BROKER_PAUSE: pause,
            FaultKind.LEADER_MOVE: self._elect,
        }
        actions[kind]()
        self._await_in_sync()

    def led_by_others(self) -> bool:
        """Tell whether any partition is led by another broker than the one that should."""
        topics = self._kafka.admin.list_topics(timeout=10).topics.values()
        return any(one.leader != one.replicas[0] for topic in topics for one in topic.partitions.values())

    def _elect(self) -> None:
        """Have the preferred replicas lead. Those that cannot yet say so, and stay with whom they are."""
        topics = self._kafka.admin.list_topics(timeout=10).topics
        places = [TopicPartition(name, partition) for name, topic in topics.items() for partition in topic.partitions]
        self._kafka.admin.elect_leaders(ElectionType.PREFERRED, places).result(15)

    def _await_in_sync(self) -> None:
        def in_sync() -> bool:
            with contextlib.suppress(Exception):
                topics = self._kafka.admin.list_topics(timeout=5).topics.values()
                return all(len(one.isrs) == len(one.replicas) for topic in topics for one in topic.partitions.values())
            return False

        if not comes(in_sync, within_s=_IN_SYNC_WITHIN_S, every_s=0.2):
            raise RuntimeError("the brokers did not become in sync")
