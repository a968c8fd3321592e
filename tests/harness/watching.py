"""``caesura view`` in a thread of this process, and what a page of it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import connect

from worker.adapters.kafka.topic_reader import Start
from worker.adapters.system_clock import SystemClock
from worker.service.server import listening
from worker.service.watch_service import WatchService, readable_topics
from worker.settings.tree import BrokerSettings

__all__ = ["ANSWER_WITHIN_S", "messages", "watching"]

ANSWER_WITHIN_S = 60.0


@contextmanager
def watching(settings: BrokerSettings) -> Iterator[str]:
    """Run the service; yield the address of its WebSocket."""
    listener = listening(settings.serve)
    ready, stops = threading.Event(), list[Callable[[], None]]()
    service = WatchService(
        settings=settings, topics=readable_topics(settings), clock=SystemClock(), start=Start(at_end=True)
    )

    def take(stop: Callable[[], None]) -> None:
        stops.append(stop)
        ready.set()

    thread = threading.Thread(target=lambda: service.run(listener, stop=take), name="view", daemon=True)
    thread.start()
    assert ready.wait(ANSWER_WITHIN_S)
    try:
        yield listener.url.replace("http", "ws", 1) + "v1/watch"
    finally:
        stops[0]()
        thread.join(ANSWER_WITHIN_S)
        listener.socket.close()


def messages(address: str, done: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Connect, and return the messages up to the one that is looked for."""
    with connect(address, proxy=None) as page:
        page.send("{}")
        found: list[dict[str, Any]] = []
        while not found or not done(found[-1]):
            found.append(json.loads(page.recv(timeout=ANSWER_WITHIN_S)))
        return found
