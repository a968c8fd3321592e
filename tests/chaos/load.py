"""What is said under chaos: many sessions at once, each drawn from the seed, every word of them known.

``tests.harness.producers`` says what a session's producer sends; here it is brought to the brokers, at a steady pace.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Iterator

from confluent_kafka import KafkaError, Message, Producer

from tests.harness.producers import WHEN_ALL_ENDS, Sent, crowd_records, session_records

_AT_ONCE = 24


def all_sent(seed: int, sessions: int, crowd: int, partitions: int, *, timed: bool) -> Iterator[Sent]:
    """Yield whatever a load has sent that opened so many sessions, session by session."""
    for number in range(sessions):
        yield from session_records(seed, number, partitions, timed=timed)
    for number in range(crowd):
        yield from crowd_records(number, partitions)


class _Agenda:
    """What is to be sent next, and when. talking: the sessions that are not at their end, the crowd not among them."""

    def __init__(self) -> None:
        self._tie = itertools.count()
        self._waiting: list[tuple[float, int, Sent, Iterator[Sent], bool]] = []
        self.talking = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, session: Iterator[Sent], *, of_crowd: bool = False) -> None:
        self.talking += not of_crowd
        self._wait_for_next(session, of_crowd=of_crowd)

    def take(self, *, all_ends: bool) -> tuple[Sent, bool] | None:
        """Return what is due, and whether it is of the crowd; None: nothing yet."""
        if not self._waiting:
            return None
        at_s = self._waiting[0][0]
        if at_s > time.monotonic() and not (at_s == WHEN_ALL_ENDS and all_ends):
            return None
        _, _, one, session, of_crowd = heapq.heappop(self._waiting)
        self._wait_for_next(session, of_crowd=of_crowd)
        return one, of_crowd

    def _wait_for_next(self, session: Iterator[Sent], *, of_crowd: bool) -> None:
        one = next(session, None)
        if one is None:
            self.talking -= not of_crowd
        else:
            at_s = time.monotonic() + one.after_s
            heapq.heappush(self._waiting, (at_s, next(self._tie), one, session, of_crowd))


class Load:
    """One producer in a thread of its own, at a steady pace, until ``finish``."""

    def __init__(
        self, bootstrap: str, topic: str, *, seed: int, partitions: int, events_a_s: float, crowd: int, timed: bool
    ) -> None:
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
        self.crowd = crowd
        self._timed = timed
        self.error: str | None = None
        self.sessions = 0
        self.events = 0

    def start(self) -> None:
        self._thread.start()

    def finish(self, timeout_s: float = 600.0) -> None:
        """Open no more sessions, bring those that are open to their end, and wait until the brokers have it all."""
        self._finishing.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive() or self._producer.flush(timeout_s) or self.error:
            raise RuntimeError(f"the load did not get through: {self.error}")

    def _run(self) -> None:
        agenda = _Agenda()
        for number in range(self.crowd):
            agenda.add(crowd_records(number, self._partitions), of_crowd=True)
        due_s = time.monotonic()
        while agenda or not self._finishing.is_set():
            while agenda.talking < _AT_ONCE and not self._finishing.is_set():
                agenda.add(session_records(self._seed, self.sessions, self._partitions, timed=self._timed))
                self.sessions += 1
            taken = agenda.take(all_ends=self._finishing.is_set())
            if taken is None:
                time.sleep(0.01)
                continue
            one, of_crowd = taken
            self._send(one)
            if not of_crowd:  # the crowd comes and goes as fast as it can
                due_s = max(due_s + 1 / self._events_a_s, time.monotonic() - 1.0)
                time.sleep(max(0.0, due_s - time.monotonic()))

    def _send(self, one: Sent) -> None:
        self._producer.produce(
            self._topic, one.value, one.key, one.partition, headers=list(one.headers), on_delivery=self._delivered
        )
        self._producer.poll(0)
        self.events += 1

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        del message
        if error is not None:
            self.error = error.name()
