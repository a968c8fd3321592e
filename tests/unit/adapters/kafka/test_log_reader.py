"""How long a reading of the log may stall is counted in polls alone, however long its reader takes for a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from confluent_kafka import Consumer, KafkaError, Message

import caesura.worker.adapters.kafka.log_reader as adapter
from caesura.worker.adapters.kafka.error_codes import PARTITION_END
from caesura.worker.adapters.kafka.fetch_positions import FetchPositions
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError
from caesura.worker.ports.records import PartitionEnd, PartitionStalled, Record

STALL_S = 4.0


@dataclass
class Fetched:
    """A message as the binding hands it over."""

    at: int

    def offset(self) -> int:
        return self.at

    def leader_epoch(self) -> None:
        return None

    def error(self) -> None:
        return None

    def timestamp(self) -> tuple[int, int]:
        return 0, 0

    def headers(self) -> None:
        return None

    def key(self) -> bytes:
        return b"key"

    def value(self) -> bytes:
        return b"value"


@dataclass
class FiveAtATime:
    """A consumer that has so many records, five of them in each fetch; a poll in vain takes its time."""

    records: int
    now_s: float = 0.0
    at: int = field(default=0, init=False)

    def __call__(self, *_: object) -> Any:  # noqa: ANN401 - in place of the binding's class
        return self

    def assign(self, places: list[Any]) -> None:
        self.at = places[0].offset

    def poll(self, timeout_s: float) -> Fetched | None:
        if self.at >= self.records:
            self.now_s += timeout_s
            return None
        self.at += 1
        return Fetched(self.at - 1)

    def consume(self, _: int, __: float) -> list[Fetched]:
        found = [Fetched(at) for at in range(self.at, min(self.records, self.at + 4))]
        self.at += len(found)
        return found

    def close(self) -> None:
        pass

    def monotonic_s(self) -> float:
        return self.now_s


def reading(client: FiveAtATime, monkeypatch: pytest.MonkeyPatch) -> KafkaLogReader:
    monkeypatch.setattr(adapter, "new_client", client)
    settings = KafkaSettings(bootstrap_servers="localhost:9092")
    return KafkaLogReader(settings, monotonic_s=client.monotonic_s)


def test_a_reader_that_takes_long_for_each_record_reads_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FiveAtATime(records=23)
    found = []
    for record in reading(client, monkeypatch).read("topic", 0, 0, 23, STALL_S):
        found.append(record.offset)
        client.now_s += 10 * STALL_S
    assert found == list(range(23))


def test_a_log_that_does_not_go_on_is_given_up_after_the_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FiveAtATime(records=10)
    found = reading(client, monkeypatch).read("topic", 0, 0, 11, STALL_S)
    assert [next(found).offset for _ in range(10)] == list(range(10))
    with pytest.raises(BrokerError, match="stands at 10, not yet at 11"):
        next(found)
    assert STALL_S < client.now_s < STALL_S + 1.0


def a_message(offset: int, *, partition: int = 0, error: int | None = None) -> Message:
    return Message(
        topic="words",
        partition=partition,
        offset=offset,
        key=b"key",
        value=b"value",
        headers=[("h", b"x")],
        error=None if error is None else KafkaError(error),
        timestamp=(2, 1_700_000_000_000),
    )


def sought(next_offset: int) -> FetchPositions:
    readings = FetchPositions("words")
    readings.add([0])
    readings.move(0, next_offset)
    return readings


def offset_of(item: Record | PartitionEnd | PartitionStalled | None) -> int | None:
    return item.offset if isinstance(item, Record) else None


def test_records_are_delivered_only_after_the_first_seek() -> None:
    readings = FetchPositions("words")
    readings.add([0])
    assert readings.item(a_message(0)) is None
    assert readings.item(a_message(0, error=PARTITION_END)) is None
    assert readings.item(a_message(0, error=KafkaError._AUTO_OFFSET_RESET)) is None


def test_a_dropped_partition_delivers_no_records() -> None:
    readings = sought(0)
    readings.drop([0])
    assert readings.item(a_message(0)) is None
    with pytest.raises(BrokerError):
        readings[0]


def test_records_before_the_next_offset_are_skipped() -> None:
    readings = sought(5)
    assert [offset_of(readings.item(a_message(offset))) for offset in (4, 5, 5, 7, 6)] == [None, 5, None, 7, None]


def test_the_end_moves_the_next_offset_past_control_markers() -> None:
    readings = sought(0)
    readings.item(a_message(0))
    assert readings.item(a_message(3, error=PARTITION_END)) == PartitionEnd(partition=0, next_offset=3)
    assert offset_of(readings.item(a_message(2))) is None
    assert readings.ends(0, next_offset=1, end=3)
    assert not readings.ends(0, next_offset=0, end=3)
    assert not readings.ends(0, next_offset=1, end=4)


def test_without_having_met_the_end_only_the_leaders_word_counts() -> None:
    readings = sought(0)
    assert not readings.ends(0, next_offset=1, end=3)
    assert readings.ends(0, next_offset=3, end=3)
    assert readings.ends(9, next_offset=3, end=3)


def test_an_offset_out_of_range_stalls_the_partition() -> None:
    item = sought(5).item(a_message(5, error=KafkaError._AUTO_OFFSET_RESET))
    assert isinstance(item, PartitionStalled)
    assert item.partition == 0


def test_a_partition_that_changed_during_gathering_is_unsettled() -> None:
    readings = sought(0)
    readings.add([1, 2])
    before = readings.generations()
    readings.move(0, 0)
    readings.drop([2])
    gathered = [a_message(0, partition=partition) for partition in (0, 1, 2)]
    assert readings.unsettled(gathered, before) == {0, 2}


def test_a_seek_keeps_the_pause() -> None:
    readings = sought(0)
    assert readings[0].paused
    readings.paused([0], paused=False)
    readings.move(0, 4)
    assert not readings[0].paused


def test_a_record_has_its_timestamp_key_and_headers() -> None:
    record = sought(0).item(a_message(0))
    assert record == Record(
        partition=0,
        offset=0,
        timestamp_ms=1_700_000_000_000,
        key=b"key",
        value=b"value",
        headers=(("h", b"x"),),
        stamped_by_broker=True,
    )


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_a_reader_can_be_made_whatever_the_groups_times_are(group_protocol: Literal["classic", "consumer"]) -> None:
    settings = KafkaSettings(
        bootstrap_servers="127.0.0.1:1",
        group_id="g",
        group_protocol=group_protocol,
        session_timeout_ms=6_000,
        heartbeat_interval_ms=1_000,
        max_poll_interval_ms=7_000,
    )
    Consumer(settings.reader_options()).close()
