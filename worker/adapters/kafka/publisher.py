"""Publishes segments: a transactional producer on confluent-kafka (``caesura.worker.ports.publisher.Publisher``).

``kafka.errors`` decides what a failure means. This file has the order of calls and the start time of the transaction:
if a broker timed the transaction out, this looks like a newer producer, and only the transaction's age tells which.

After a record that a broker refused, librdkafka (2.16) goes on with a gap in its sequence numbers, so the next
transaction fails too. Therefore the abort of such a transaction makes a new producer. So does the abort after a send of
offsets that did not return: the old producer is abandoned, and the new one's ``init_transactions`` fences it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from confluent_kafka import KafkaException, TopicPartition
from typing_extensions import override

from caesura.worker.adapters.kafka.errors import (
    abort_error,
    commit_error,
    delivery_error,
    error_of,
    init_error,
    offsets_error,
)
from caesura.worker.adapters.kafka.fetch_positions import known_epoch
from caesura.worker.adapters.kafka.membership import KafkaMembership
from caesura.worker.adapters.kafka.partitions import topics_found
from caesura.worker.adapters.kafka.producer_handle import ProducerHandle, returns_within
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import (
    AbortableError,
    AwaitedBroker,
    BrokerError,
    BrokerRole,
    CaesuraError,
    FatalError,
    FencedError,
)
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.word_source import GroupMembership

_NEWS_TRAVEL_S = 5.0
"""So long a broker may not have heard of a topic that was just made."""

_OVERDUE_S = 1.0
_GROUP_COORDINATOR = AwaitedBroker(role=BrokerRole.GROUP_COORDINATOR)


class KafkaPublisher(Publisher):
    """Publishes in transactions of one id; offsets go to ``input_topic`` in the group that a membership names.

    outputs: topics without which ``init_transactions`` refuses to go on. monotonic_s tells how old a transaction is.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        transactional_id: str,
        input_topic: str,
        *,
        outputs: Collection[str] = (),
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transactional_id = transactional_id
        self._input_topic = input_topic
        self._monotonic_s = monotonic_s
        self._settings = settings
        self._outputs = sorted(outputs)
        self._refused_since_s: float | None = None
        self._lifetime_s = settings.transaction_timeout_ms / 1000
        self._began_s = 0.0
        self._gap = False
        self._fresh = False
        self._producing = ProducerHandle(
            settings.producer_options(transactional_id), queue_full_s=self._lifetime_s, monotonic_s=monotonic_s
        )

    @property
    @override
    def transactional_id(self) -> str:
        return self._transactional_id

    @override
    def init_transactions(self, timeout_s: float) -> None:
        """Fence whoever else uses this id and end what it left open.

        FatalError where credentials are refused, or a topic to publish to is missing or has too few partitions.
        """
        self._look_for_outputs(timeout_s)
        try:
            self._producing.live.init_transactions(timeout_s)
        except KafkaException as exception:
            error = init_error(error_of(exception))
            if isinstance(error, BrokerError):
                error.awaits = AwaitedBroker(role=BrokerRole.TRANSACTION_COORDINATOR)
                self._producing.raise_denied()
            raise error from exception
        self._fresh = False

    def _look_for_outputs(self, timeout_s: float) -> None:
        """Raise where a topic to publish to is missing or too small: every transaction with it would be aborted.

        A broker may not have heard yet of a topic that was just made: for some seconds that is a BrokerError.
        """
        try:
            self._refuse_outputs(timeout_s)
        except BrokerError:
            self._producing.raise_denied()
            raise
        except FatalError as error:
            now_s = self._monotonic_s()
            if self._refused_since_s is None:
                self._refused_since_s = now_s
            if now_s - self._refused_since_s < _NEWS_TRAVEL_S:
                raise BrokerError(str(error)) from None
            raise
        self._refused_since_s = None

    def _refuse_outputs(self, timeout_s: float) -> None:
        if not self._outputs:
            return
        asked = [self._input_topic, *self._outputs]
        told = topics_found(self._producing.live, asked, self._settings, timeout_s)
        wanted = len(told[self._input_topic].partitions)
        for topic in self._outputs:
            found = len(told[topic].partitions)
            if found < wanted:
                raise FatalError(
                    f"{topic} has {found} partitions and {self._input_topic} {wanted}: a record goes to its input's "
                    "partition number (docs/operations.md: more partitions)"
                )

    @override
    def begin(self) -> None:
        """Begin a transaction; FencedError or AbortableError where the producer is done for."""
        try:
            self._producing.live.begin_transaction()
        except KafkaException as exception:
            raise delivery_error(error_of(exception), "beginning a transaction") from exception
        self._producing.forget_refused()
        self._producing.ends.clear()
        self._began_s = self._monotonic_s()

    @override
    def publish(self, message: OutMessage) -> None:
        """Queue one message; waits while the local queue is full, at most as long as the transaction may live."""
        self._producing.queue(message)

    @override
    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        """Send the input's next offsets, fenced by the group's generation.

        After FencedError ``abort`` succeeds where it was the group that moved on, and raises where it was the producer.
        """
        if not isinstance(membership, KafkaMembership) or membership.metadata is None or not membership.current:
            raise FencedError("sending offsets into the transaction: not a member of the group (any more)")
        if any(offset.next_offset < 0 for offset in offsets.values()):
            raise FatalError("a negative offset would be dropped without a word")
        places = [
            TopicPartition(
                self._input_topic,
                partition,
                offset.next_offset,
                metadata=offset.metadata,
                leader_epoch=known_epoch(offset.leader_epoch),
            )
            for partition, offset in offsets.items()
        ]
        producer, metadata = self._producing.live, membership.metadata
        try:
            # librdkafka (2.16) forgets the time-out while the group's coordinator is away: its issue 5456.
            answered = returns_within(
                timeout_s + _OVERDUE_S,
                lambda: producer.send_offsets_to_transaction(places, metadata, timeout_s),
            )
        except KafkaException as exception:
            error = offsets_error(error_of(exception))
            if isinstance(error, AbortableError):
                self._producing.hear_refused()  # what a broker refused meanwhile is what ended the transaction
            raise _awaiting(error, _GROUP_COORDINATOR) from exception
        if not answered:
            self._producing.abandon()
            self._fresh = True
            away = AbortableError("sending offsets into the transaction: the group's coordinator is away")
            raise _awaiting(away, _GROUP_COORDINATOR)

    @override
    def commit(self, timeout_s: float) -> None:
        """Flush and commit. After BrokerError librdkafka (2.16) must not be asked again (ADR 0047)."""
        try:
            self._producing.live.commit_transaction(timeout_s)
        except KafkaException as exception:
            aged = self._monotonic_s() - self._began_s >= self._lifetime_s
            error = commit_error(error_of(exception), may_have_timed_out=aged)
            if isinstance(error, AbortableError):
                self._gap = True
                self._producing.raise_refused()  # the delivery report says more than the commit that met it
            raise _awaiting(error, self._producing.awaits) from exception
        self._producing.forget_refused()

    @override
    def end_of(self, topic: str, partition: int) -> int | None:
        end = self._producing.ends.get((topic, partition), -1)
        return None if end < 0 else end

    @override
    def abort(self, timeout_s: float) -> None:
        """Abort the running transaction; a record that was refused costs the producer."""
        if not self._fresh:
            try:
                self._producing.live.abort_transaction(timeout_s)
            except KafkaException as exception:
                raise abort_error(error_of(exception)) from exception
            self._fresh = self._gap or self._producing.refused
            self._gap = False
            if self._fresh:
                self._producing.remake()
        if self._fresh:
            self.init_transactions(timeout_s)
        self._producing.forget_refused()

    @override
    def rebuild(self, timeout_s: float) -> None:
        self._gap, self._fresh = False, True
        self._producing.remake()
        self.init_transactions(timeout_s)

    @override
    def close(self) -> None:
        self._producing.close()


def _awaiting(error: CaesuraError, broker: AwaitedBroker) -> CaesuraError:
    """Return the error with the broker that did not answer; a fence was answered."""
    if not isinstance(error, FencedError):
        error.awaits = broker
    return error
