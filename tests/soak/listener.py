"""Reads what comes out of the soak, and checks it as it comes: each session's words once, in order, to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from confluent_kafka import Consumer, TopicPartition

from caesura.schemas.codec import decode_segment
from caesura.schemas.segments import Segment

__all__ = ["Listener"]


class Listener:
    """A ``read_committed`` reader in a thread of its own. What it remembers of a session it drops at its end."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, heard: Callable[[int], None]) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"{topic}-listener",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
        self._heard = heard
        self._reached: dict[str, tuple[int, int]] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self.ended_s: dict[str, float] = {}
        self.wrong: list[str] = []

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        self._consumer.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            words = 0
            for message in self._consumer.consume(1000, 0.1):
                if message.error() is None:
                    segment = decode_segment(message.value() or b"")
                    self._check(segment)
                    words += len(segment.words)
            self._heard(words)

    def _check(self, segment: Segment) -> None:
        index, words = self._reached.pop(segment.session, (0, 0))
        if (segment.index, segment.first_word) != (index, words):
            self.wrong.append(f"{segment.session}: segment {segment.index} where {index} was due")
        if segment.session_end:
            self.ended_s[segment.session] = time.monotonic()
        else:
            self._reached[segment.session] = (segment.index + 1, segment.first_word + len(segment.words))
