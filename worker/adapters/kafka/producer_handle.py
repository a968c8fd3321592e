"""A producer handle that two publishers share. It makes the producer, queues records and keeps the first refusal."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from caesura.worker.adapters.kafka.error_codes import DENIED
from caesura.worker.adapters.kafka.errors import consumer_error, delivery_error, error_of
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.errors import (
    AbortableError,
    AwaitedBroker,
    BrokerRole,
    CaesuraError,
    ContentRefusedError,
    FatalError,
)
from caesura.worker.ports.records import OutMessage


def returns_within(timeout_s: float, call: Callable[[], object]) -> bool:
    """Run ``call`` in a thread of its own and raise what it raises; False where it is still running after the time.

    Then it runs on: whoever called must let go of all that it uses. The thread does not keep the process from ending.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - it is raised again, by whoever waits
            raised.append(error)

    thread = threading.Thread(target=run, name="overdue-call", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        return False
    if raised:
        raise raised[0]
    return True


_QUEUE_POLL_S = 0.05
_ONE_A_BATCH = {"batch.num.messages": 1}
_LET_GO_S = 2.0
_PURGED = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)  # noqa: SLF001 (librdkafka's own codes)


class ProducerHandle:
    """Queues records on a producer of these options.

    queue_full_s: how long to wait for room in the local queue. monotonic_s measures it. ends: by topic and partition,
    the offset behind the last record that was delivered; -1 where that is not known.
    """

    def __init__(
        self,
        options: Mapping[str, object],
        *,
        queue_full_s: float,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = {**options, "on_delivery": self._delivered, "error_cb": self._heard}
        self._queue_full_s = queue_full_s
        self._monotonic_s = monotonic_s
        self._refused: CaesuraError | None = None
        self._is_single = False
        self._denied: CaesuraError | None = None
        self._unanswered: dict[tuple[str, int], int] = {}
        self.ends: dict[tuple[str, int], int] = {}
        self._producer: Producer | None = self._make()

    @property
    def live(self) -> Producer:
        """The producer; FatalError after close."""
        if self._producer is None:
            raise FatalError("the producer was closed")
        return self._producer

    def queue(self, message: OutMessage) -> None:
        """Queue one record. AbortableError, FencedError, FatalError, also for an earlier record that was refused."""
        doing, deadline_s = f"publishing to {message.topic}", self._monotonic_s() + self._queue_full_s
        self._serve(0, doing)
        while not self._queued(message, doing):
            if self._monotonic_s() >= deadline_s:
                raise AbortableError(f"{doing}: the local queue stays full")
            self._serve(_QUEUE_POLL_S, doing)

    def _serve(self, timeout_s: float, doing: str) -> None:
        """Hear delivery reports; the binding raises a producer's fatal error from here too."""
        try:
            self.live.poll(timeout_s)
        except KafkaException as exception:
            raise delivery_error(error_of(exception), doing) from exception
        self.raise_refused()

    def _queued(self, message: OutMessage, doing: str) -> bool:
        try:
            self.live.produce(
                message.topic,
                value=message.value,
                key=message.key,
                partition=message.partition,
                headers=list(message.headers),
            )
        except BufferError:  # the binding's word for a full queue
            return False
        except KafkaException as exception:
            record = (message.topic, message.partition, message.value)
            raise delivery_error(error_of(exception), doing, record) from exception
        place = (message.topic, message.partition)
        self._unanswered[place] = self._unanswered.get(place, 0) + 1
        return True

    @property
    def awaits(self) -> AwaitedBroker:
        """The broker that a transaction waits for: a leader that owes an answer, else its coordinator."""
        for topic, partition in self._unanswered:
            return AwaitedBroker(role=BrokerRole.LEADER, topic=topic, partition=partition)
        return AwaitedBroker(role=BrokerRole.TRANSACTION_COORDINATOR)

    def raise_denied(self) -> None:
        """Raise FatalError where brokers refused the connection itself: wrong password, or a certificate."""
        self.live.poll(0)
        if self._denied is not None:
            raise self._denied

    def raise_refused(self) -> None:
        """Raise what the first record that was not taken means; one that was refused for its content goes first."""
        if self._refused is not None:
            raise self._refused

    def hear_refused(self) -> None:
        """Hear delivery reports that have come, and raise what ``raise_refused`` does."""
        self._serve(_QUEUE_POLL_S, "hearing delivery reports")

    @property
    def refused(self) -> bool:
        """Whether a record of the running transaction was not taken."""
        return self._refused is not None

    def forget_refused(self) -> None:
        """Begin anew: what was refused or not answered belongs to a transaction that is over."""
        self._refused = None
        self._unanswered.clear()

    def remake(self) -> None:
        """Destroy the producer and make one of the same options.

        After a refusal of content it sends each record alone: a batch names its first record only, and may be too large
        as a whole.
        """
        self._is_single = isinstance(self._refused, ContentRefusedError)
        self.close()
        self._producer = self._make()

    def abandon(self) -> None:
        """Make a producer of the same options, and leave the old one to the call that hangs in it."""
        self._producer = self._make()
        self.forget_refused()

    def close(self) -> None:
        """Let go, after ``_LET_GO_S`` at most; closing twice is harmless."""
        producer, self._producer = self._producer, None
        if producer is not None:
            close_within(producer)
        self.forget_refused()

    def _make(self) -> Producer:
        try:
            return new_client(Producer, {**self._options, **(_ONE_A_BATCH if self._is_single else {})})
        except KafkaException as exception:
            raise consumer_error(error_of(exception), "making the producer") from exception

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        topic, partition = message.topic() or "", message.partition() or 0
        left = self._unanswered.get((topic, partition), 0) - 1
        if left > 0:
            self._unanswered[topic, partition] = left
        elif error is None or error.code() not in _PURGED:
            self._unanswered.pop((topic, partition), None)
        if error is None:
            offset, end = message.offset(), self.ends.get((topic, partition), 0)
            if offset is None or offset < 0 or end < 0:  # as of a record that was sent again
                self.ends[topic, partition] = -1
            else:
                self.ends[topic, partition] = max(end, offset + 1)
        if error is not None and error.code() not in _PURGED and not isinstance(self._refused, ContentRefusedError):
            found = delivery_error(error, f"publishing to {topic}", (topic, partition, message.value()))
            if isinstance(found, ContentRefusedError):
                found.in_batch = not self._is_single
            if self._refused is None or isinstance(found, ContentRefusedError):
                self._refused = found

    def _heard(self, error: KafkaError) -> None:
        """Take an event about a connection: nothing but a refusal matters, the rest librdkafka fixes by itself."""
        if error.code() in DENIED:
            self._denied = consumer_error(error, "connecting")


def close_within(producer: Producer) -> None:
    """Drop what a producer has queued and close it; after ``_LET_GO_S`` it is left to itself."""
    # close() flushes and aborts without end: there is nothing left to flush, but an abort whose brokers are away waits
    # for them, and is left to itself (whoever comes next with this id aborts it or fences it). It warns where the flush
    # failed, and raises once more the fatal error that whoever called this has met already: it is closed all the same.
    producer.purge()
    with suppress(KafkaException), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        returns_within(_LET_GO_S, producer.close)
