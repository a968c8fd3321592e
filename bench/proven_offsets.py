"""What it costs that a committed offset is proven (ADR 0047): a read with a probe against a plain one, by turns.

    python -m bench.proven_offsets

A real Apache Kafka with one broker, a member of each group protocol at rest, one partition.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from confluent_kafka import TopicPartition

from bench.machine import write_result
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from tests.harness.clusters import RealCluster
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.parts.kafka_part import Kafka, find_kafka

READS = 400
POLLED_EVERY = 20


def main() -> None:
    """Measure both reads under both protocols, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where to write the figures")
    given = parser.parse_args()
    kafka = find_kafka()
    try:
        figures = {"classic": measured(kafka, "classic"), "consumer": measured(kafka, "consumer")}
    finally:
        kafka.close()
    write_result("proven_offsets", "python -m bench.proven_offsets", figures, out=given.out)


def measured(kafka: Kafka, protocol: Literal["classic", "consumer"]) -> dict[str, dict[str, float]]:
    """Return how long each read took, in milliseconds."""
    with ExitStack() as clients:
        cluster = RealCluster(kafka, protocol, 1, clients, max_poll_interval_ms=60_000)
        source = cluster.source()
        assert isinstance(source, KafkaWordSource)
        member = Member(source)
        until(lambda: member.held == {0}, member)
        asked, consumer = [TopicPartition(cluster.topic, 0)], source._consumer  # noqa: SLF001 - the plain read
        reads: dict[str, Callable[[], object]] = {
            "plain": lambda: consumer.committed(asked, PATIENCE_S),
            "proven": lambda: source.committed([0], PATIENCE_S),
        }
        took_ms: dict[str, list[float]] = {name: [] for name in reads}
        for number in range(READS):
            for name, read in reads.items():
                began_s = time.perf_counter()
                read()
                took_ms[name].append((time.perf_counter() - began_s) * 1000)
            if number % POLLED_EVERY == 0:
                member.step()
    return {
        name: {
            "p50_ms": round(statistics.median(times), 2),
            "p99_ms": round(statistics.quantiles(times, n=100)[98], 2),
        }
        for name, times in took_ms.items()
    }


if __name__ == "__main__":
    main()
