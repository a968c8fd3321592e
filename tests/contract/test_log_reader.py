"""What a reader of the log promises a rebuild: committed records up to an end, or that it cannot be reached yet."""

from __future__ import annotations

import time
from itertools import islice

import pytest

from caesura.worker.errors import BrokerError, CaesuraError
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import OutMessage
from caesura.worker.runtime.ledger.output_records import is_probe, ledger_probe
from tests.harness.clusters import Cluster
from tests.harness.group_member import PATIENCE_S, text


def ready(cluster: Cluster) -> Publisher:
    publisher = cluster.publisher("writer")
    publisher.init_transactions(PATIENCE_S)
    return publisher


def write(publisher: Publisher, topic: str, *values: str) -> None:
    """Write values in a transaction that stays open."""
    publisher.begin()
    for value in values:
        publisher.publish(OutMessage(topic=topic, partition=0, key=None, value=value.encode()))


def read(reader: LogReader, topic: str, start: int, end: int) -> list[str]:
    return [text(record) for record in reader.read(topic, 0, start, end, PATIENCE_S)]


def test_a_stretch_is_read_from_its_start_up_to_its_end(cluster: Cluster) -> None:
    cluster.append("a", "b", "c", "d")
    reader = cluster.reader()
    assert reader.bounds(cluster.topic, 0, PATIENCE_S) == (0, 4)
    assert read(reader, cluster.topic, 1, 3) == ["b", "c"]
    assert read(reader, cluster.topic, 0, 4) == ["a", "b", "c", "d"]
    assert read(reader, cluster.topic, 2, 2) == []


def test_a_record_comes_with_its_place_key_headers_and_time(cluster: Cluster) -> None:
    cluster.append("a", "b")
    (record,) = cluster.reader().read(cluster.topic, 0, 1, 2, PATIENCE_S)
    assert (record.partition, record.offset, record.key, record.value) == (0, 1, b"key", b"b")
    assert record.headers == (("h", b"x"),)
    assert record.timestamp_ms > 0


def test_what_retention_took_is_out_of_bounds(cluster: Cluster) -> None:
    cluster.append("a", "b", "c")
    cluster.delete_before(0, 2)
    reader = cluster.reader()
    assert reader.bounds(cluster.topic, 0, PATIENCE_S) == (2, 3)
    assert read(reader, cluster.topic, 2, 3) == ["c"]


def test_input_taken_by_retention_before_it_is_read_can_be_asked_again(cluster: Cluster) -> None:
    cluster.append("a", "b", "c")
    reader = cluster.reader()
    low, end = reader.bounds(cluster.topic, 0, PATIENCE_S)
    cluster.delete_before(0, 2)
    with pytest.raises(BrokerError):
        read(reader, cluster.topic, low, end)
    low, end = reader.bounds(cluster.topic, 0, PATIENCE_S)
    assert read(reader, cluster.topic, low, end) == ["c"]


def test_what_was_aborted_is_passed_over_and_the_end_is_reached_all_the_same(cluster: Cluster) -> None:
    topic, publisher = cluster.output(), ready(cluster)
    write(publisher, topic, "kept")
    publisher.commit(PATIENCE_S)
    write(publisher, topic, "dropped")
    cluster.send(publisher)
    publisher.abort(PATIENCE_S)
    reader = cluster.reader()
    _, end = reader.bounds(topic, 0, PATIENCE_S)
    assert end > 2
    assert read(reader, topic, 0, end) == ["kept"]


def test_an_end_behind_an_open_transaction_is_told_and_not_reachable_yet(cluster: Cluster) -> None:
    topic, publisher = cluster.output(), ready(cluster)
    write(publisher, topic, "a")
    publisher.commit(PATIENCE_S)
    write(publisher, topic, "b")
    cluster.send(publisher)
    reader = cluster.reader()
    _, end = reader.bounds(topic, 0, PATIENCE_S)
    with pytest.raises(BrokerError, match="still open"):
        list(reader.read(topic, 0, 0, end, 0.5))
    publisher.commit(PATIENCE_S)
    assert read(reader, topic, 0, end) == ["a", "b"]


def test_a_witness_lies_behind_all_that_was_there_open_transactions_included(cluster: Cluster) -> None:
    topic, publisher, reader = cluster.output(), ready(cluster), cluster.reader()
    write(publisher, topic, "a")
    publisher.commit(PATIENCE_S)
    write(publisher, topic, "b")
    cluster.send(publisher)
    low, end = reader.bounds_behind(ledger_probe(topic, 0), PATIENCE_S)
    with pytest.raises(BrokerError, match="still open"):
        list(reader.read(topic, 0, low, end, 0.5))
    publisher.commit(PATIENCE_S)
    *before, probe = reader.read(topic, 0, low, end, PATIENCE_S)
    assert [text(one) for one in before] == ["a", "b"]
    assert is_probe(probe)
    assert (probe.offset, probe.value) == (end - 1, None)
    assert reader.bounds_behind(ledger_probe(topic, 0), PATIENCE_S)[1] > end


def test_no_witness_is_written_where_there_is_no_such_topic(cluster: Cluster) -> None:
    with pytest.raises(CaesuraError):
        cluster.reader().bounds_behind(ledger_probe("no-such-topic", 0), PATIENCE_S)


def test_a_reader_goes_from_one_partition_to_another_and_back(two_partitions: Cluster) -> None:
    two_partitions.append("a", "b", partition=0)
    two_partitions.append("c", partition=1)
    reader = two_partitions.reader()
    found = [
        [text(one) for one in reader.read(two_partitions.topic, partition, 0, end, PATIENCE_S)]
        for partition, end in ((0, 2), (1, 1), (0, 2))
    ]
    assert found == [["a", "b"], ["c"], ["a", "b"]]


def test_a_reader_may_be_closed_twice(cluster: Cluster) -> None:
    reader = cluster.reader()
    reader.bounds(cluster.topic, 0, PATIENCE_S)
    reader.close()
    reader.close()


def test_two_stretches_that_are_read_by_turns_each_yield_all_of_theirs(two_partitions: Cluster) -> None:
    values = [str(number) for number in range(2500)]
    for partition in (0, 1):
        two_partitions.append(*values, partition=partition)
    reader = two_partitions.reader()
    stretches = [reader.read(two_partitions.topic, partition, 0, len(values), PATIENCE_S) for partition in (0, 1)]
    found: list[list[str]] = [[], []]
    for _ in range(3):
        for place, stretch in enumerate(stretches):
            found[place] += [text(record) for record in islice(stretch, 1000)]
    assert found == [values, values]


def test_a_short_stretch_does_not_wait_for_records_that_nobody_asked_for(cluster: Cluster) -> None:
    cluster.append("a", "b", "c")
    reader = cluster.reader()
    took_s = []
    for _ in range(5):
        began_s = time.monotonic()
        assert read(reader, cluster.topic, 1, 2) == ["b"]
        took_s.append(time.monotonic() - began_s)
    assert min(took_s) < 0.2, "the time that a poll may wait where nothing comes"
