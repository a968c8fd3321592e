"""Words in: a member of the consumer group on confluent-kafka (``caesura.worker.ports.word_source.WordSource``).

Rules:

- A new partition is assigned at offset 0 and paused in the callback. No record of it is delivered before ``seek``.
- Every seek, assignment and loss starts a new **generation** of the partition. Messages of an older generation are
  dropped. If the generation changes while a batch is gathered, the partition is sought to its next offset again.
- Callbacks never raise into the binding, which would then assign by itself: ``poll`` raises a listener's error instead.
- Records that were fetched are returned before an error is raised. A fatal error is raised by every later call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from typing_extensions import override

from caesura.worker.adapters.kafka.current_offsets import CurrentOffsets
from caesura.worker.adapters.kafka.end_questions import EndQuestions
from caesura.worker.adapters.kafka.error_codes import FORBIDDEN, INFORMATIONAL, OUT_OF_RANGE, PARTITION_END
from caesura.worker.adapters.kafka.errors import consumer_error, consuming, error_of
from caesura.worker.adapters.kafka.fetch_positions import FetchPositions, committed_offset, known_epoch
from caesura.worker.adapters.kafka.membership import KafkaMembership
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.range_questions import RangeQuestions
from caesura.worker.adapters.kafka.rebalance import RebalanceCallbacks
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, CaesuraError, FatalError
from caesura.worker.ports.records import CommittedOffset, EndAnswer, NextOffset, PartitionEnd, PartitionStalled, Record
from caesura.worker.ports.word_source import RebalanceListener, WordSource

_NOT_FETCHING = (KafkaError._STATE, KafkaError._PREV_IN_PROGRESS)  # noqa: SLF001 (librdkafka's own codes)
_WAKE_S = 0.01


class KafkaWordSource(WordSource):
    """Reads one topic as a member of ``settings.group_id``. Only ``committed`` uses the group's offsets.

    claims_topic: its offsets show whether the group's coordinator is current (``current_offsets``).
    """

    def __init__(self, settings: KafkaSettings, topic: str, claims_topic: str) -> None:
        if topic.startswith("^"):
            raise FatalError(f"topic {topic!r}: a pattern is not a topic")
        self._topic = topic
        self._readings = FetchPositions(topic)
        self._fault: CaesuraError | None = None
        self._leaders: dict[int, int] = {}
        self._asked_in: dict[int, int] = {}
        self._end_questions = EndQuestions(settings, topic)
        self._questions = RangeQuestions(settings, "read_committed")
        self._closed = False
        with consuming("making the consumer"):
            heard = {"error_cb": self._note, "on_commit": self._note_commit}
            self._consumer = new_client(Consumer, {**settings.consumer_options(), **heard})
        self._offsets = CurrentOffsets(self._consumer, topic, claims_topic)

    @property
    @override
    def topic(self) -> str:
        return self._topic

    @override
    def subscribe(self, listener: RebalanceListener) -> None:
        heard = RebalanceCallbacks(self._topic, self._readings, listener, self._keep)
        with consuming(f"subscribing to {self._topic}"):
            self._consumer.subscribe(
                [self._topic], on_assign=heard.on_assign, on_revoke=heard.on_revoke, on_lost=heard.on_lost
            )

    @override
    def partition_count(self, timeout_s: float) -> int:
        topic = self._questions.topic(self._topic, timeout_s, f"asking for topic {self._topic}")
        if topic.error is not None:
            raise consumer_error(topic.error, f"asking for topic {self._topic}")
        self._leaders = {partition: found.leader for partition, found in topic.partitions.items()}
        return len(topic.partitions)

    @override
    def poll(self, max_records: int, timeout_s: float) -> list[Record | PartitionEnd | PartitionStalled]:
        self._raise_fault()
        with consuming(f"polling {self._topic}"):
            first = self._consumer.poll(timeout_s)
            generations = self._readings.generations()
        messages = [] if first is None else [first, *self._more(max_records - 1)]
        unsettled = self._readings.unsettled(messages, generations)
        for partition in unsettled:
            self._read_again(partition)
        found: list[Record | PartitionEnd | PartitionStalled] = []
        for message in messages:
            error = message.error()
            if error is not None and error.code() != PARTITION_END and error.code() not in OUT_OF_RANGE:
                self._note(error)
            elif message.partition() not in unsettled and (item := self._readings.item(message)) is not None:
                found.append(item)
        if not found:
            self._raise_fault()
        return found

    @override
    def pause(self, partitions: Sequence[int]) -> None:
        self._readings.paused(partitions, paused=True)
        with consuming("pausing"):
            self._consumer.pause([TopicPartition(self._topic, partition) for partition in partitions])

    @override
    def resume(self, partitions: Sequence[int]) -> None:
        """Deliver these assigned partitions again. FatalError if one was never sought."""
        unsought = [partition for partition in partitions if self._readings[partition].next_offset is None]
        if unsought:
            raise FatalError(f"partitions {unsought} of {self._topic} were resumed before they were sought")
        self._readings.paused(partitions, paused=False)
        with consuming("resuming"):
            self._consumer.resume([TopicPartition(self._topic, partition) for partition in partitions])
        self._wake(partitions)

    @override
    def seek(self, partition: int, next_offset: int, leader_epoch: int | None = None) -> None:
        """Continue at ``next_offset``. BrokerError if the partition is not assigned to this worker."""
        self._readings.move(partition, next_offset, leader_epoch)
        place = TopicPartition(self._topic, partition, next_offset, leader_epoch=known_epoch(leader_epoch))
        with consuming(f"seeking partition {partition}"):
            try:
                self._consumer.seek(place)
            except KafkaException as exception:
                if error_of(exception).code() not in _NOT_FETCHING:
                    raise
                # Its fetcher has not started yet, or has stopped for good at an offset out of range.
                self._consumer.incremental_unassign([place])
                self._consumer.incremental_assign([place])
                if self._readings[partition].paused:
                    self._consumer.pause([place])

    @override
    def committed(
        self, partitions: Sequence[int], timeout_s: float, *, leave: Callable[[str], str] | None = None
    ) -> dict[int, CommittedOffset | None]:
        """Read the stable committed offsets: librdkafka waits for open transactions under read_committed."""
        doing = "reading committed offsets"
        with consuming(doing):
            answers = self._offsets.read(partitions, timeout_s, leave)
        found: dict[int, CommittedOffset | None] = {}
        for answer in answers:
            if answer.error is not None:
                raise consumer_error(answer.error, doing)
            found[answer.partition] = committed_offset(answer)
        return found

    @override
    def watermarks(self, partition: int, timeout_s: float) -> tuple[int, int]:
        """Ask the leader for the earliest offset and the last stable offset."""
        return self._questions.bounds(
            self._topic, partition, timeout_s, f"asking for the range of partition {partition}"
        )

    @override
    def ask_ends(self, next_offsets: Mapping[int, int], timeout_s: float) -> None:
        """Ask the leaders whether records exist at or after these offsets, including those of open transactions."""
        self._asked_in |= {partition: self._readings[partition].generation for partition in next_offsets}
        self._end_questions.ask(next_offsets, lambda partition: self._leaders.get(partition, -1), timeout_s)

    @override
    def end_answers(self) -> list[EndAnswer]:
        return [
            EndAnswer(
                partition=one.partition,
                next_offset=one.next_offset,
                at_end=None if one.end is None else self._readings.ends(one.partition, one.next_offset, one.end),
                failure=one.failure,
            )
            for one in self._end_questions.take()
            if one.partition in self._readings
            and self._readings[one.partition].generation == self._asked_in[one.partition]
        ]

    @override
    def membership(self) -> KafkaMembership:
        with consuming("asking for the group's metadata"):
            return KafkaMembership.parse(self._consumer.consumer_group_metadata())

    def commit_without_transaction(self, offsets: Mapping[int, NextOffset]) -> None:
        """Commit outside a transaction, for the demo's mock cluster, which has none. Blocks; BrokerError."""
        places = [
            TopicPartition(self._topic, partition, offset.next_offset, metadata=offset.metadata)
            for partition, offset in offsets.items()
        ]
        with consuming("committing offsets without a transaction"):
            self._consumer.commit(offsets=places, asynchronous=False)

    @override
    def close(self) -> None:
        """Leave the group; closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        self._end_questions.close()
        self._questions.close()
        with consuming("leaving the group"):
            self._consumer.close()

    def _more(self, max_records: int) -> list[Message]:
        """Return the further messages that are there. ``consume`` alone would wait the whole time-out for a full batch.

        If it fails, the message that was polled before is still returned, because it would not be fetched again.
        """
        if max_records < 1:
            return []
        try:
            with consuming(f"polling {self._topic}"):
                return self._consumer.consume(max_records, 0)
        except CaesuraError as fault:
            self._keep(fault)
            return []

    def _wake(self, partitions: Sequence[int]) -> None:
        """Make librdkafka fetch resumed partitions at once.

        An idle broker thread looks for work once a second (librdkafka 2.16), and a resume does not wake it. Any request
        does, so each leader gets the smallest one; its answer is ignored.
        """
        for partition in {self._leaders.get(partition, -1 - partition): partition for partition in partitions}.values():
            with suppress(KafkaException):
                place = TopicPartition(self._topic, partition)
                self._consumer.get_watermark_offsets(place, timeout=_WAKE_S, cached=False)

    def _read_again(self, partition: int) -> None:
        """Seek a partition to its next offset: its generation changed while messages were gathered."""
        if partition in self._readings and (next_offset := self._readings[partition].next_offset) is not None:
            self.seek(partition, next_offset, self._readings[partition].leader_epoch)

    def _note(self, error: KafkaError) -> None:
        doing = f"polling {self._topic}"
        if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            # A broker that has just started may not know the topic yet; partition_count decides.
            self._keep(BrokerError(f"{doing}: {error.str()}"))
        elif error.fatal() or error.code() not in INFORMATIONAL:
            self._keep(consumer_error(error, doing))

    def _note_commit(self, error: KafkaError | None, places: list[TopicPartition]) -> None:
        """Take the outcome of a commit. If it is denied, no claim can succeed, so the fault is kept."""
        for place in places or []:
            refused = place.error or error
            if refused is not None:
                self._offsets.refused = refused.str()
                if refused.code() in FORBIDDEN:
                    self._keep(consumer_error(refused, f"committing an offset of {place.topic}"))

    def _keep(self, fault: CaesuraError) -> None:
        """Keep a fault for poll to raise. A BrokerError gives way to a later fault."""
        if self._fault is None or isinstance(self._fault, BrokerError):
            self._fault = fault

    def _raise_fault(self) -> None:
        fault = self._fault
        if fault is None:
            return
        if isinstance(fault, BrokerError):
            self._fault = None
        raise fault
