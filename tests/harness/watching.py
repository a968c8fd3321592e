"""``caesura view`` in a thread of this process, and what a page of it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import connect

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.ports.records import PartitionEnd, Record
from caesura.worker.service.server.server import listening
from caesura.worker.service.watch.watch_service import WatchService, readable_topics
from caesura.worker.settings.tree import BrokerSettings
from tests.harness.waiting import wait_until

ANSWER_WITHIN_S = 60.0


class _Reader(KafkaReader):
    """Tells whether it has come to the end of every partition: what is sent from then on, it reads."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        super().__init__(settings, topic)
        self._to_come: set[int] | None = None

    @property
    def is_at_end(self) -> bool:
        return self._to_come == set()

    def assign(self, start: Start) -> list[int]:
        partitions = super().assign(start)
        self._to_come = set(partitions)
        return partitions

    def poll(self, timeout_s: float) -> Record | PartitionEnd | None:
        came = super().poll(timeout_s)
        if isinstance(came, PartitionEnd) and self._to_come is not None:
            self._to_come.discard(came.partition)
        return came


@contextmanager
def watching(settings: BrokerSettings) -> Iterator[str]:
    """Run the service; yield the address of its WebSocket, once it has come to the end of all that it reads."""
    listener, topics = listening(settings.serve), readable_topics(settings)
    ready, stops = threading.Event(), list[Callable[[], None]]()
    readers: list[_Reader] = []
    wanted = sum(topic is not None for topic in (topics.segments, topics.words, topics.tentative))

    def reader(kafka: KafkaSettings, topic: str) -> KafkaReader:
        readers.append(_Reader(kafka, topic))
        return readers[-1]

    service = WatchService(
        settings=settings, topics=topics, clock=SystemClock(), start=Start(at_end=True), reader=reader
    )

    def take(stop: Callable[[], None]) -> None:
        stops.append(stop)
        ready.set()

    thread = threading.Thread(target=lambda: service.run(listener, stop=take), name="view", daemon=True)
    try:
        thread.start()
        assert ready.wait(ANSWER_WITHIN_S)
        wait_until(
            lambda: sum(one.is_at_end for one in readers) == wanted,
            "it has not come to the end of the topics",
            within_s=ANSWER_WITHIN_S,
        )
        yield listener.url.replace("http", "ws", 1) + "v1/watch"
    finally:
        for stop in stops:
            stop()
        thread.join(ANSWER_WITHIN_S)
        listener.socket.close()


def messages(
    address: str, done: Callable[[dict[str, Any]], bool], found: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Connect, and return the messages up to the one that is looked for. found: takes each as it comes."""
    found = [] if found is None else found
    with connect(address, proxy=None) as page:
        page.send("{}")
        while not found or not done(found[-1]):
            found.append(json.loads(page.recv(timeout=ANSWER_WITHIN_S)))
        return found
