"""Sessions that talk on and on through a Kafka, and a listener who counts what comes out of them."""

from __future__ import annotations

import itertools
import random
import threading
from collections import Counter
from types import TracebackType
from typing import Self

from confluent_kafka import Consumer, Producer, TopicPartition

from caesura.schemas.codec import decode_segment, encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.core.partition.partitioning import murmur2_partition
from tests.harness.speech import check_every_word_once, event, talk
from tests.harness.waiting import wait_until

_WORDS = 2
_DEADLINE_S = 300.0


class Conversation:
    """A session in each partition says two words every ``every_s`` seconds, from entry to ``finish``."""

    def __init__(self, bootstrap: str, partitions: int, name: str, every_s: float = 0.3) -> None:
        self._every_s = every_s
        self._partitions = partitions
        self._sessions = [self._named(name, partition) for partition in range(partitions)]
        drawn = random.Random(name)
        self._script = {session: iter(talk(20_000, drawn)) for session in self._sessions}
        self._sent: list[WordsEvent] = []
        self._events: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self._came: list[Segment] = []
        self._published: Counter[str] = Counter()
        client = {"bootstrap.servers": bootstrap, "log_level": 0}
        self._producer = Producer(client | {"enable.idempotence": True, "linger.ms": 5})
        reading = {"group.id": f"{name}-listener", "isolation.level": "read_committed", "enable.auto.commit": False}
        self._consumer = Consumer(client | reading | {"auto.offset.reset": "earliest"})
        self._lock = threading.Lock()
        self._silent, self._deaf = threading.Event(), threading.Event()
        self._threads = [threading.Thread(target=self._talk), threading.Thread(target=self._listen)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._silent.set()
        self._deaf.set()
        for thread in self._threads:
            thread.join()
        self._consumer.close()

    def wait_for_first_segment(self) -> None:
        """Wait until something came out."""
        wait_until(lambda: bool(self._came), "no segment came", within_s=_DEADLINE_S)

    def wait_for_what_is_said_now(self) -> None:
        """Wait until of every session a word came out that is said from now on."""
        with self._lock:
            said = dict(self._said)
        wait_until(lambda: not self._behind(said), lambda: f"behind: {self._behind(said)}", within_s=_DEADLINE_S)

    def finish(self) -> int:
        """End the sessions, wait for their ends, check that each word came once; return how many words there were."""
        self._silent.set()
        self._threads[0].join()
        for session in self._sessions:
            self._send(session, session_end=True)
        assert self._producer.flush(_DEADLINE_S) == 0
        wait_until(
            lambda: {one.session for one in self._came if one.session_end} == set(self._sessions),
            lambda: f"said {dict(self._said)}, published {dict(self._published)}",
            within_s=_DEADLINE_S,
        )
        check_every_word_once(self._sent, self._came)
        return sum(self._said.values())

    def _behind(self, said: dict[str, int]) -> dict[str, int]:
        return {one: count - self._published[one] for one, count in said.items() if self._published[one] <= count}

    def _named(self, name: str, partition: int) -> str:
        """Return a session's name that falls into a partition."""
        names = (f"{name}-{number}" for number in range(10_000))
        return next(one for one in names if murmur2_partition(one.encode(), self._partitions) == partition)

    def _talk(self) -> None:
        while not self._silent.is_set():
            for session in self._sessions:
                self._send(session, *itertools.islice(self._script[session], _WORDS))
            self._silent.wait(self._every_s)

    def _send(self, session: str, *words: str, session_end: bool = False) -> None:
        one, key = event(session, self._events[session], *words, session_end=session_end), session.encode()
        self._producer.produce("asr.words", encode_event(one), key, murmur2_partition(key, self._partitions))
        self._producer.poll(0)
        with self._lock:
            self._sent.append(one)
            self._events[session] += 1
            self._said[session] += len(words)

    def _listen(self) -> None:
        self._consumer.assign([TopicPartition("asr.segments", partition, 0) for partition in range(self._partitions)])
        while not self._deaf.is_set():
            message = self._consumer.poll(0.2)
            if message is None or message.error() is not None:
                continue
            segment = decode_segment(message.value() or b"")
            if segment.session in self._sessions:
                self._came.append(segment)
                self._published[segment.session] += len(segment.words)
