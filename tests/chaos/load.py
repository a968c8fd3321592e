"""What is said under chaos: many sessions at once, each drawn from the seed, every word of them known.

Sessions differ in what they ask for and in how their producers behave: repeats, gaps, restarts under a new epoch,
late events, a change of language, words after the end, bytes that are no event.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from confluent_kafka import KafkaError, Message, Producer

from schemas.codec import encode_event
from schemas.events import Emission, SessionOptions, Word, WordsEvent
from worker.core.partitioning import murmur2_partition

__all__ = ["Load", "Sent", "session_records"]

_CHINESE = ("今天", "天气", "很好", "我们", "去", "公园", "散步", "吧", "嗯", "那个", "下午", "再说")
_AT_ONCE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One record for the input topic."""

    partition: int
    key: bytes
    value: bytes


def session_records(seed: int, number: int, partitions: int) -> Iterator[Sent]:
    """Yield a session's records in order. Its name leads to the partition ``number`` modulo ``partitions``."""
    drawn = random.Random(f"{seed} {number}")
    partition = number % partitions
    name = next(
        f"s{number}{letter}"
        for letter in _letters()
        if murmur2_partition(f"s{number}{letter}".encode(), partitions) == partition
    )
    for value in _values(name, drawn):
        yield Sent(partition=partition, key=name.encode(), value=value)


def _letters() -> Iterator[str]:
    number = 0
    while True:
        yield f"x{number:x}"
        number += 1


def _values(name: str, drawn: random.Random) -> Iterator[bytes]:
    chinese = drawn.random() < 0.15
    total, said = drawn.randint(8, 60), 0
    epoch = seq = 0
    skipped: WordsEvent | None = None
    first = True
    while said < total:
        count = drawn.randint(0, 6)
        words = [drawn.choice(_CHINESE) if chinese else f"{name}-{said + i}" for i in range(count)]
        said += count
        event = WordsEvent(
            version="1.0",
            session=name,
            epoch=epoch,
            seq=seq,
            lang="zh" if chinese else "en",
            words=tuple(
                Word(text=word, start_ms=300 * (said + i), end_ms=300 * (said + i) + 250)
                for i, word in enumerate(words)
            ),
            utterance_end=drawn.random() < 0.05,
        )
        if first:
            event = msgspec.structs.replace(event, options=_options(drawn), targets=_targets(drawn))
        seq += 1
        if not first and drawn.random() < 0.03:
            skipped = event  # a gap; the event may come late, and then it is too late
            continue
        first = False
        yield encode_event(event)
        if drawn.random() < 0.05:
            yield encode_event(event)
        if skipped is not None and drawn.random() < 0.5:
            yield encode_event(skipped)
            skipped = None
        if drawn.random() < 0.03:
            epoch, seq, skipped = epoch + 1, 0, None
        if drawn.random() < 0.01:
            yield b"\xc1 no event"
        if drawn.random() < 0.02:
            chinese = not chinese
    end = WordsEvent(version="1.0", session=name, epoch=epoch, seq=seq, lang="en", session_end=True)
    yield encode_event(end)
    if drawn.random() < 0.1:
        yield encode_event(msgspec.structs.replace(end, seq=seq + 1, words=(Word(text=f"{name}-after"),)))


def _options(drawn: random.Random) -> SessionOptions | None:
    if drawn.random() < 0.3:
        return None
    return SessionOptions(
        emission=drawn.choice((Emission.SENTENCE, Emission.SETTLED)),
        look_ahead_words=drawn.choice((None, 3, 9)),
        max_buffer_words=drawn.choice((None, None, 40)),
        punctuation=False if drawn.random() < 0.05 else None,
    )


def _targets(drawn: random.Random) -> tuple[str, ...] | None:
    return drawn.choice((None, ("de",), ("de", "xx")))


class Load:
    """One producer in a thread of its own, at a steady pace, until ``finish``."""

    def __init__(self, bootstrap: str, topic: str, *, seed: int, partitions: int, events_a_s: float) -> None:
        self._topic = topic
        self._seed = seed
        self._partitions = partitions
        self._events_a_s = events_a_s
        self._finishing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "delivery.timeout.ms": 600_000,
                "linger.ms": 5,
                "log_level": 0,
            }
        )
        self.error: str | None = None
        self.sessions = 0
        self.events = 0

    def start(self) -> None:
        self._thread.start()

    def finish(self, timeout_s: float = 120.0) -> None:
        """Open no more sessions, bring those that are open to their end, and wait until the brokers have it all."""
        self._finishing.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive() or self._producer.flush(timeout_s) or self.error:
            raise RuntimeError(f"the load did not get through: {self.error}")

    def _run(self) -> None:
        running: list[Iterator[Sent]] = []
        due_s = time.monotonic()
        while running or not self._finishing.is_set():
            while len(running) < _AT_ONCE and not self._finishing.is_set():
                running.append(session_records(self._seed, self.sessions, self._partitions))
                self.sessions += 1
            session = running.pop(0)
            one = next(session, None)
            if one is None:
                continue
            running.append(session)
            self._producer.produce(self._topic, one.value, one.key, one.partition, on_delivery=self._delivered)
            self._producer.poll(0)
            self.events += 1
            due_s = max(due_s + 1 / self._events_a_s, time.monotonic() - 1.0)
            time.sleep(max(0.0, due_s - time.monotonic()))

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        del message
        if error is not None:
            self.error = error.name()
