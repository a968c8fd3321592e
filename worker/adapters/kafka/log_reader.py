"""Reads stretches of the log from outside the group (``caesura.worker.ports.log_reader.LogReader``), for a rebuild."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from confluent_kafka import Consumer, TopicPartition
from typing_extensions import override

from caesura.worker.adapters.kafka.end_probe import EndProbe
from caesura.worker.adapters.kafka.error_codes import OUT_OF_RANGE, PARTITION_END
from caesura.worker.adapters.kafka.errors import consumer_error, consuming
from caesura.worker.adapters.kafka.fetch_positions import record_of
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.range_questions import RangeQuestions
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.records import OutMessage, Record

_POLL_S = 0.2
_MAX_MESSAGES = 1000


class KafkaLogReader(LogReader):
    """Consumers without a group: one sees open transactions and tells the end.

    Each stretch is read by a consumer of its own, up to there and only what was committed: readings of two partitions
    that take turns would take each other's records away from a shared one.
    """

    def __init__(self, settings: KafkaSettings, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._options = settings.reader_options() | {"isolation.level": "read_committed"}
        self._monotonic_s = monotonic_s
        self._questions = RangeQuestions(settings, "read_uncommitted")
        self._probe = EndProbe(settings)

    @override
    def bounds(self, topic: str, partition: int, timeout_s: float) -> tuple[int, int]:
        return self._questions.bounds(topic, partition, timeout_s, f"asking for the bounds of {topic} [{partition}]")

    @override
    def bounds_behind(self, probe: OutMessage, timeout_s: float) -> tuple[int, int]:
        ends_at_s = self._monotonic_s() + timeout_s
        low, _ = self.bounds(probe.topic, probe.partition, timeout_s)
        return low, self._probe.write(probe, max(0.0, ends_at_s - self._monotonic_s())) + 1

    @override
    def read(self, topic: str, partition: int, start: int, end: int, timeout_s: float) -> Iterator[Record]:
        if start >= end:
            return
        doing = f"reading {topic} [{partition}]"
        with consuming(doing):
            consumer = new_client(Consumer, self._options)
        try:
            with consuming(doing):
                consumer.assign([TopicPartition(topic, partition, start)])
            yield from self._stretch(consumer, partition, start, end, timeout_s, doing)
        finally:
            consumer.close()

    def _stretch(
        self, consumer: Consumer, partition: int, start: int, end: int, timeout_s: float, doing: str
    ) -> Iterator[Record]:
        waited_s = 0.0  # in polls alone: the time that the caller takes for a record is no stall of the log
        position = start
        while position < end:
            if waited_s > timeout_s:
                raise BrokerError(f"{doing}: stands at {position}, not yet at {end}: a transaction is still open")
            polled_at_s = self._monotonic_s()
            with consuming(doing):  # ``consume`` alone would wait the whole time-out for a full batch
                first = consumer.poll(_POLL_S)
                messages = [] if first is None else [first, *consumer.consume(_MAX_MESSAGES - 1, 0)]
            waited_s += self._monotonic_s() - polled_at_s
            for message in messages:
                offset, error = message.offset(), message.error()
                if error is not None and error.code() in OUT_OF_RANGE:
                    # Retention took it meanwhile, or a former leader has not got it yet: the bounds have moved.
                    raise BrokerError(f"{doing}: {error.str()}")
                if error is not None and error.code() != PARTITION_END:
                    raise consumer_error(error, doing)
                if offset is None:
                    continue
                position = max(position, offset if error is not None else offset + 1)
                waited_s = 0.0
                if error is None and offset < end:
                    yield record_of(message, partition, offset)

    @override
    def close(self) -> None:
        self._questions.close()
        self._probe.close()
