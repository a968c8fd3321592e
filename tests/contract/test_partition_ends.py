"""When a word source tells a partition's end, and what the leader says of it when asked: twin and real broker."""

from __future__ import annotations

from caesura.worker.ports.records import EndAnswer, OutMessage, PartitionEnd
from tests.contract.written import an_aborted_record, numbered
from tests.harness.clusters import Cluster
from tests.harness.group_member import PATIENCE_S, Member, until


def test_the_end_is_told_once_everything_before_it_was_delivered(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 3))
    member = Member(cluster.source())
    until(lambda: bool(member.ends), member)
    assert member.ends[0] == len(member.records) == 3
    cluster.append("3")
    until(lambda: member.ends[0] == 4, member)
    assert member.values() == numbered(0, 4)


def test_the_end_is_told_again_after_a_pause(cluster: Cluster) -> None:
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    member.source.pause([0])
    member.ends.clear()
    for _ in range(5):
        member.step()
    member.source.resume([0])
    until(lambda: 0 in member.ends, member)


def test_the_leader_says_whether_the_end_was_reached(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 3))
    member = Member(cluster.source())
    until(lambda: member.ends.get(0) == 3, member)
    assert member.at_end(0, 3)
    assert not member.at_end(0, 2)
    assert member.source.watermarks(0, PATIENCE_S) == (0, 3)


def test_a_question_hears_of_earlier_appends_that_were_not_polled(cluster: Cluster) -> None:
    cluster.append("0")
    member = Member(cluster.source())
    until(lambda: member.ends.get(0) == 1, member)
    cluster.append("1")
    assert not member.at_end(0, 1)


def test_what_an_open_transaction_holds_is_in_the_log_too(cluster: Cluster) -> None:
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    publisher = cluster.publisher("open")
    publisher.init_transactions(PATIENCE_S)
    publisher.begin()
    publisher.publish(OutMessage(topic=cluster.topic, partition=0, key=None, value=b"open"))
    cluster.send(publisher)
    assert not member.at_end(0, 0)
    publisher.abort(PATIENCE_S)
    until(lambda: member.at_end(0, 0), member)


def test_an_answer_of_before_a_seek_is_not_given(cluster: Cluster) -> None:
    cluster.append("0")
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    member.source.ask_ends({0: 1}, PATIENCE_S)
    member.source.seek(0, 0)
    for _ in range(10):
        member.step()
    assert member.source.end_answers() == []


def test_the_later_of_two_questions_of_a_partition_is_answered(cluster: Cluster) -> None:
    cluster.append("0")
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    member.source.ask_ends({0: 0}, PATIENCE_S)
    member.source.ask_ends({0: 1}, PATIENCE_S)
    answers: list[EndAnswer] = []
    for _ in range(30):
        member.step()
        answers += member.source.end_answers()
    assert answers == [EndAnswer(partition=0, next_offset=1, at_end=True)]


def test_a_control_marker_at_the_end_of_the_log_does_not_hide_the_end(cluster: Cluster) -> None:
    cluster.append("0")
    an_aborted_record(cluster)
    member = Member(cluster.source())
    until(lambda: bool(member.ends), member)
    assert member.ends[0] > 1
    assert member.at_end(0, 1)
    assert member.at_end(0, member.ends[0])
    cluster.append("1")
    assert not member.at_end(0, 1)


def test_the_end_of_each_partition_is_told_by_itself(two_partitions: Cluster) -> None:
    cluster = two_partitions
    cluster.append("only here", partition=1)
    member = Member(cluster.source())
    until(lambda: member.ends == {0: 0, 1: 1}, member)
    ends = [item for item in member.source.poll(10, 0.2) if isinstance(item, PartitionEnd)]
    assert ends == []
