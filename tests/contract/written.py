"""Records that a contract test writes beside those of its own promise."""

from __future__ import annotations

from caesura.worker.ports.records import OutMessage
from tests.harness.clusters import Cluster
from tests.harness.group_member import PATIENCE_S


def numbered(first: int, last: int) -> list[str]:
    return [str(number) for number in range(first, last)]


def an_aborted_record(cluster: Cluster) -> None:
    publisher = cluster.publisher("aborting")
    publisher.init_transactions(PATIENCE_S)
    publisher.begin()
    publisher.publish(OutMessage(topic=cluster.topic, partition=0, key=None, value=b"aborted"))
    cluster.send(publisher)
    publisher.abort(PATIENCE_S)
