"""The callbacks that the binding calls in a rebalance, inside ``KafkaWordSource.poll`` or ``close``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition

from caesura.worker.adapters.kafka.errors import consumer_error, error_of
from caesura.worker.adapters.kafka.fetch_positions import FetchPositions
from caesura.worker.errors import CaesuraError, FatalError, FencedError
from caesura.worker.ports.word_source import RebalanceListener


class RebalanceCallbacks:
    """None of these raises: a fault goes to ``keep``, for the next poll to raise."""

    def __init__(
        self, topic: str, readings: FetchPositions, listener: RebalanceListener, keep: Callable[[CaesuraError], None]
    ) -> None:
        self._topic, self._readings, self._listener, self._keep = topic, readings, listener, keep

    def on_assign(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        """Assign at offset 0, which needs no look-up, and pause; a seek follows before anything is read."""
        starts = [TopicPartition(place.topic, place.partition, 0) for place in places]
        partitions = [place.partition for place in places]
        try:
            consumer.incremental_assign(starts)
            consumer.pause(starts)
        except KafkaException as exception:
            self._keep(consumer_error(error_of(exception), f"assigning {partitions}"))
            return
        self._readings.add(partitions)
        self._tell(self._listener.on_assigned, partitions)

    def on_revoke(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        """Let the listener finish, then give the partitions back."""
        self._tell(self._listener.on_revoked, [place.partition for place in places])
        self._let_go(consumer, places)

    def on_lost(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        """Tell the listener that others may own the partitions already."""
        self._tell(self._listener.on_lost, [place.partition for place in places])
        self._let_go(consumer, places)

    def _tell(self, event: Callable[[Sequence[int]], None], partitions: list[int]) -> None:
        if not partitions:  # a rebalance that changes nothing for this member
            return
        try:
            event(sorted(partitions))
        except (FatalError, FencedError) as ending:  # of what a listener commits: the process ends as it says
            self._keep(ending)
        except Exception as exception:  # noqa: BLE001 (whatever it is must not reach the binding; poll raises it)
            fault = FatalError(f"a rebalance listener raised {type(exception).__name__}")
            fault.__cause__ = exception
            self._keep(fault)

    def _let_go(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self._readings.drop(place.partition for place in places)
        try:
            # Said here, not left to the binding: it does so only where the listener made no such call of its own.
            consumer.incremental_unassign(places)
        except KafkaException as exception:
            self._keep(consumer_error(error_of(exception), "giving partitions back"))
