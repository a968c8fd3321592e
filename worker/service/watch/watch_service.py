"""``caesura view``: one page that shows what a real cluster's topics say, for those who may read them."""

from __future__ import annotations

import asyncio
import importlib.metadata
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.errors import FatalError
from caesura.worker.ports.clock import Clock
from caesura.worker.service.server.client_socket import ClientSocket
from caesura.worker.service.server.lifecycle import Hosted, StopTaker, host
from caesura.worker.service.server.messages import PROTOCOL_VERSION, About, Opening, Ready, ServerMessage
from caesura.worker.service.server.rendered import served_texts
from caesura.worker.service.server.server import Listener
from caesura.worker.service.watch.subscribers import Subscribers
from caesura.worker.service.watch.topic_watch import TopicWatch, WatchedTopics
from caesura.worker.service.watch.watch_connection import WatchConnection
from caesura.worker.settings.tree import BrokerSettings

_MOST_UNTOLD = 1000
_LONGEST_WAIT_S = 1.0
"""A loop that does not go round any more keeps the reading thread no longer."""

_STATE = "in the topics; this page keeps what it has seen lately, and no offsets"


def readable_topics(settings: BrokerSettings) -> WatchedTopics:
    """Return the topics that there are and that our user may read. FatalError where the segments are not among them.

    BrokerError where no broker answers.
    """
    worker = settings.worker
    tentative = worker.tentative_topic
    names = [worker.segment_topic, worker.input_topic, *([tentative] if tentative else [])]
    with KafkaReader(settings.kafka, worker.segment_topic) as reader:
        reader.partitions()  # FatalError where there is no such topic
    forbidden = {name: told[0] for name, told in KafkaTopics(settings.kafka).forbidden(names).items()}
    if forbidden.get(worker.segment_topic):
        raise FatalError(f"{worker.segment_topic}: Kafka's ACLs keep this user from reading it")
    return WatchedTopics(
        segments=worker.segment_topic,
        words=worker.input_topic if _is_there(settings, worker.input_topic, forbidden) else None,
        tentative=tentative if tentative and _is_there(settings, tentative, forbidden) else None,
    )


def _is_there(settings: BrokerSettings, topic: str, forbidden: dict[str, bool]) -> bool:
    if forbidden.get(topic):
        return False
    with suppress(FatalError), KafkaReader(settings.kafka, topic) as reader:
        return bool(reader.partitions())
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchService:
    """The service. start: where reading begins. reader: of a topic. ``run`` blocks until it is told to stop."""

    settings: BrokerSettings
    topics: WatchedTopics
    clock: Clock
    start: Start
    reader: Callable[[KafkaSettings, str], KafkaReader] = KafkaReader

    def run(self, listener: Listener, *, stop: StopTaker | None = None) -> int:
        """Serve until stopped; return the exit status."""
        return asyncio.run(self._run(listener, stop))

    async def _run(self, listener: Listener, stop: StopTaker | None) -> int:
        loop, audience, settings = asyncio.get_running_loop(), Subscribers(), self.settings.serve

        room = threading.Semaphore(_MOST_UNTOLD)

        def tell(message: ServerMessage) -> None:
            """Hand a message over; a topic is read no faster than its watchers are told."""
            waited = room.acquire(timeout=_LONGEST_WAIT_S)
            loop.call_soon_threadsafe(tell_all, message, waited)

        def tell_all(message: ServerMessage, waited: bool) -> None:
            if waited:
                room.release()
            audience.tell(message)

        def source(fault: Callable[[Exception], None]) -> TopicWatch:
            return TopicWatch(
                self.settings.kafka,
                self.topics,
                start=self.start,
                clock=self.clock,
                interval_ms=settings.tentative_interval_ms,
                texts=served_texts(self.settings),
                tell=tell,
                on_fault=fault,
                reader=self.reader,
            )

        async def connect(_: int, client: ClientSocket, opening: Opening) -> WatchConnection:
            del opening
            client.send_queue.put(Ready(version=PROTOCOL_VERSION, models={}, limits=None, state=_STATE))
            return WatchConnection(client, audience)

        hosted = Hosted(settings=settings, about=self._about(), path="/v1/watch", source=source, connect=connect)
        return await host(hosted, listener, stop)

    def _about(self) -> About:
        topics = self.topics
        grey = "" if topics.words else f" · no grey words: {self.settings.worker.input_topic} may not be read"
        return About(
            shows="topics",
            version=importlib.metadata.version("caesura"),
            models={},
            source=f"{topics.segments}{grey}",
            token_wanted=bool(self.settings.serve.token),
        )
