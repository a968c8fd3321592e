"""Watches what is committed, while it is: when did a partition bring something out again?"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Collection

from confluent_kafka import Consumer, TopicPartition

from caesura.schemas.codec import decode_segment

__all__ = ["Watch"]


class Watch:
    """Reads the segments topic with ``read_committed`` in a thread of its own; past the proxies."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"{topic}-watch",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
        self._came: dict[int, list[tuple[int, float]]] = defaultdict(list)
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self.words = 0

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        self._consumer.close()

    def recovered_s(self, partition: int, wall_ms: int) -> float | None:
        """Return when (wall clock) something was read of a partition that was frozen at ``wall_ms`` or later."""
        with self._guard:
            came = self._came[partition]
            return next((at_s for frozen_ms, at_s in came[_first(came, wall_ms) :] if frozen_ms >= wall_ms), None)

    def all_recovered(self, partitions: Collection[int], wall_ms: int) -> bool:
        return all(self.recovered_s(partition, wall_ms) is not None for partition in partitions)

    def _run(self) -> None:
        while not self._closing.is_set():
            for message in self._consumer.consume(200, 0.1):
                if message.error() is not None:
                    continue
                segment = decode_segment(message.value() or b"")
                self.words += len(segment.words)
                with self._guard:
                    self._came[message.partition() or 0].append((segment.timing.frozen_ms, time.time()))


def _first(came: list[tuple[int, float]], wall_ms: int) -> int:
    """Return a place before which everything was read, so also frozen, before ``wall_ms``."""
    low, high = 0, len(came)
    while low < high:
        middle = (low + high) // 2
        if came[middle][1] * 1000 < wall_ms:
            low = middle + 1
        else:
            high = middle
    return low
