"""Asks leaders for the ends of their partitions, with one thread a leader, so that a slow leader delays no other.

It has its own client, because a broker answers one request of a connection after another: on the group member's
connection the question would wait for a fetch (``fetch_wait_ms``). Ends are read uncommitted, because records of open
transactions are in the log too. For seconds after an in-sync replica has died, a leader hides records that the replicas
do not have yet. But asked for the record with the largest time stamp it then names none (ADR 0022). A client that reads
nothing learns late that a leader has moved, so after a missing answer a new client asks. (librdkafka's administrator
call is not used: in 2.16 it reports success if no broker answered, and a fenced leader epoch for ever after a move.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from caesura.worker.adapters.kafka.errors import error_of
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.settings import KafkaSettings

_IDLE_S = 60.0
_NEWEST = -3
"""Kafka's name for the offset of the record with the largest time stamp (KIP-734, brokers from 3.0 on)."""
_NOT_UNDERSTOOD = (KafkaError.UNSUPPORTED_VERSION, KafkaError._UNSUPPORTED_FEATURE)  # noqa: SLF001
"""What else speaks Kafka's protocol may not know it: there ``replication_ms`` is all there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardEnd:
    """What came of a question. end: the log's end, open transactions included.

    None: no answer, and ``failure`` says why; without a failure, the leader has stamped what it shows to nobody yet.
    """

    partition: int
    next_offset: int
    end: int | None
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    number: int
    next_offset: int
    timeout_s: float


class EndQuestions:
    """The questions and answers of one topic's partitions. Threads are its own affair; it is called by one."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        self._topic = topic
        self._options = settings.reader_options() | {"isolation.level": "read_uncommitted"}
        self._changed = threading.Condition()
        self._client: Consumer | None = None
        self._waiting: dict[int, dict[int, _Question]] = {}
        self._asking: set[int] = set()
        self._latest: dict[int, int] = {}
        self._heard: list[tuple[int, HeardEnd]] = []
        self._number = 0
        self._closed = False

    def ask(self, next_offsets: Mapping[int, int], leader_of: Callable[[int], int], timeout_s: float) -> None:
        """Ask for the ends of these partitions, those of one leader in one request. Does not block."""
        with self._changed:
            for partition, next_offset in next_offsets.items():
                self._number += 1
                self._latest[partition] = self._number
                question = _Question(number=self._number, next_offset=next_offset, timeout_s=timeout_s)
                leader = leader_of(partition)
                self._waiting.setdefault(leader, {})[partition] = question
                if leader not in self._asking and not self._closed:
                    self._asking.add(leader)
                    threading.Thread(target=self._ask, args=(leader,), name=f"ends-{leader}", daemon=True).start()
            self._changed.notify_all()

    def take(self) -> list[HeardEnd]:
        """Return the answers that have come to the latest question of each partition. Does not block."""
        with self._changed:
            heard, self._heard = self._heard, []
        return [one for number, one in heard if self._latest.get(one.partition) == number]

    def close(self) -> None:
        """Ask nobody any more; whoever is being asked is left alone. Does not block; harmless twice."""
        with self._changed:
            self._closed, self._client = True, None
            self._waiting.clear()
            self._changed.notify_all()

    def _ask(self, leader: int) -> None:
        """Ask one leader, whenever there is something to be asked, until there was nothing for long."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or leader in self._waiting, _IDLE_S)
                questions = self._waiting.pop(leader, None)
                if self._closed or questions is None:
                    self._asking.discard(leader)
                    return
            answers = self._answers(questions)
            with self._changed:
                self._heard += [(questions[one.partition].number, one) for one in answers]

    def _answers(self, questions: Mapping[int, _Question]) -> list[HeardEnd]:
        ends: dict[int, int] = {}
        failure = "no answer"
        hidden: set[int] = set()
        client = None
        try:
            client = self._made()
            timeout_s = max(question.timeout_s for question in questions.values())
            for place in self._offsets(client, OFFSET_END, questions, timeout_s):
                if place.error is None and place.offset >= 0:
                    ends[place.partition] = place.offset
                else:
                    failure = "no answer" if place.error is None else place.error.str()
            hidden = self._hidden(client, ends, timeout_s)
        except KafkaException as exception:
            ends, failure = {}, error_of(exception).str()
        except Exception as exception:  # noqa: BLE001 (or the thread ends, and this leader is never asked again)
            ends, failure = {}, type(exception).__name__
        if len(ends) < len(questions):
            self._drop(client)
        return [
            HeardEnd(
                partition=partition,
                next_offset=question.next_offset,
                end=None if partition in hidden else ends.get(partition),
                failure="" if partition in ends else failure,
            )
            for partition, question in questions.items()
        ]

    def _hidden(self, client: Consumer, ends: dict[int, int], timeout_s: float) -> set[int]:
        """Return the partitions whose newest record is not shown yet; drop the end of those that do not say.

        None is named of an empty log, either: then the log begins where it ends.
        """
        unnamed = []
        for place in self._offsets(client, _NEWEST, ends, timeout_s):
            if place.error is not None and place.error.code() not in _NOT_UNDERSTOOD:
                del ends[place.partition]
            elif place.error is None and not 0 <= place.offset < ends[place.partition]:
                unnamed.append(place.partition)
        starts = self._offsets(client, OFFSET_BEGINNING, unnamed, timeout_s)
        return {place.partition for place in starts if place.error is not None or place.offset < ends[place.partition]}

    def _offsets(
        self, client: Consumer, wanted: int, partitions: Iterable[int], timeout_s: float
    ) -> list[TopicPartition]:
        places = [TopicPartition(self._topic, partition, wanted) for partition in partitions]
        found: list[TopicPartition] = client.offsets_for_times(places, timeout_s) if places else []
        return found

    def _made(self) -> Consumer:
        with self._changed:
            if self._client is None:
                self._client = new_client(Consumer, self._options)
            return self._client

    def _drop(self, client: Consumer | None) -> None:
        """Let go of a client that gave no answer; others that use it still hold it."""
        with self._changed:
            if self._client is client:
                self._client = None
