"""Which fetched messages may be delivered."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, Message

from caesura.worker.adapters.kafka.error_codes import PARTITION_END
from caesura.worker.adapters.kafka.fetch_positions import FetchPositions
from caesura.worker.errors import BrokerError
from caesura.worker.ports.records import PartitionEnd, PartitionStalled, Record


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


def test_nothing_is_delivered_before_the_first_seek() -> None:
    readings = FetchPositions("words")
    readings.add([0])
    assert readings.item(a_message(0)) is None
    assert readings.item(a_message(0, error=PARTITION_END)) is None
    assert readings.item(a_message(0, error=KafkaError._AUTO_OFFSET_RESET)) is None


def test_nothing_of_a_partition_that_was_dropped_is_delivered() -> None:
    readings = sought(0)
    readings.drop([0])
    assert readings.item(a_message(0)) is None
    with pytest.raises(BrokerError):
        readings[0]


def test_nothing_before_the_next_offset_is_delivered() -> None:
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


def test_a_partition_whose_turn_changed_while_messages_were_gathered_is_unsettled() -> None:
    readings = sought(0)
    readings.add([1, 2])
    before = readings.turns()
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
