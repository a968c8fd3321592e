"""Segments out: a transactional producer on confluent-kafka (``worker.ports.Publisher``).

What a failure means is decided in ``kafka_errors``; here stand the order of calls and what is remembered between them:
the first record that was not taken (it spoils the transaction), and when the transaction began (a broker that timed
it out looks like a newer producer).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from worker.adapters.kafka_errors import (
    abort_error,
    commit_error,
    consumer_error,
    delivery_error,
    error_of,
    init_error,
    offsets_error,
)
from worker.adapters.kafka_membership import KafkaMembership
from worker.adapters.kafka_settings import KafkaSettings
from worker.errors import AbortableError, CaesuraError, FatalError, FencedError
from worker.ports import GroupMembership, NextOffset, OutMessage

__all__ = ["KafkaPublisher"]

_QUEUE_POLL_S = 0.05


class KafkaPublisher:
    """Publishes in transactions of one id; offsets go to ``input_topic`` in the group that a membership names.

    monotonic_s tells how old a transaction is.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        transactional_id: str,
        input_topic: str,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._transactional_id = transactional_id
        self._input_topic = input_topic
        self._monotonic_s = monotonic_s
        self._timeout_s = settings.transaction_timeout_ms / 1000
        self._refused: CaesuraError | None = None
        self._began_s = 0.0
        self._producer: Producer | None = self._make()

    @property
    def transactional_id(self) -> str:
        """The producer's transactional id."""
        return self._transactional_id

    def init_transactions(self, timeout_s: float) -> None:
        """Fence whoever else uses this id and end what it left open."""
        try:
            self._live().init_transactions(timeout_s)
        except KafkaException as exception:
            raise init_error(error_of(exception)) from exception

    def begin(self) -> None:
        """Begin a transaction; FencedError or FatalError where the producer is done for."""
        try:
            self._live().begin_transaction()
        except KafkaException as exception:
            raise delivery_error(error_of(exception), "beginning a transaction") from exception
        self._refused = None
        self._began_s = self._monotonic_s()

    def publish(self, message: OutMessage) -> None:
        """Queue one message; waits while the local queue is full, at most as long as the transaction may live."""
        producer, deadline_s = self._live(), self._monotonic_s() + self._timeout_s
        producer.poll(0)
        self._raise_refused()
        doing = f"publishing to {message.topic}"
        while True:
            try:
                producer.produce(
                    message.topic,
                    value=message.value,
                    key=message.key,
                    partition=message.partition,
                    headers=list(message.headers),
                )
            except BufferError as exception:
                if self._monotonic_s() >= deadline_s:
                    raise AbortableError(f"{doing}: the local queue stays full") from exception
                producer.poll(_QUEUE_POLL_S)
                self._raise_refused()
            except KafkaException as exception:
                raise delivery_error(error_of(exception), doing) from exception
            else:
                return

    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        """Send the input's next offsets, fenced by the group's generation.

        After FencedError ``abort`` succeeds where it was the group that moved on, and raises where it was the producer.
        """
        if not isinstance(membership, KafkaMembership) or membership.metadata is None or not membership.current:
            raise FencedError("sending offsets into the transaction: not a member of the group (any more)")
        if any(offset.next_offset < 0 for offset in offsets.values()):
            raise FatalError("a negative offset would be dropped without a word")
        places = [
            TopicPartition(self._input_topic, partition, offset.next_offset, metadata=offset.metadata)
            for partition, offset in offsets.items()
        ]
        try:
            self._live().send_offsets_to_transaction(places, membership.metadata, timeout_s)
        except KafkaException as exception:
            raise offsets_error(error_of(exception)) from exception

    def commit(self, timeout_s: float) -> None:
        """Flush and commit."""
        try:
            self._live().commit_transaction(timeout_s)
        except KafkaException as exception:
            aged = self._monotonic_s() - self._began_s >= self._timeout_s
            raise commit_error(error_of(exception), may_have_timed_out=aged) from exception
        self._raise_refused()

    def abort(self, timeout_s: float) -> None:
        """Abort the running transaction."""
        try:
            self._live().abort_transaction(timeout_s)
        except KafkaException as exception:
            raise abort_error(error_of(exception)) from exception
        self._refused = None

    def rebuild(self, timeout_s: float) -> None:
        """Destroy the producer, make one with the same id, and ``init_transactions``."""
        self.close()
        self._producer = self._make()
        self.init_transactions(timeout_s)

    def close(self) -> None:
        """Let go without waiting; closing twice is harmless."""
        producer, self._producer, self._refused = self._producer, None, None
        if producer is not None:
            # close() flushes without end; with nothing left to flush it returns.
            producer.purge()
            producer.close()

    def _make(self) -> Producer:
        options = self._settings.producer_options(self._transactional_id)
        try:
            return Producer({**options, "on_delivery": self._delivered, "error_cb": self._ignore})
        except KafkaException as exception:
            raise consumer_error(error_of(exception), "making the producer") from exception

    def _live(self) -> Producer:
        if self._producer is None:
            raise FatalError("the producer was closed")
        return self._producer

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None and self._refused is None:
            self._refused = delivery_error(error, f"publishing to {message.topic()}")

    def _ignore(self, _: KafkaError) -> None:
        """Take connection events; what matters comes back from the call that it spoils."""

    def _raise_refused(self) -> None:
        if self._refused is not None:
            raise self._refused
