"""What every word source promises (``worker.ports.word_source``): on the twin, and on a real broker, both protocols."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from tests.harness.clusters import PATIENCE_S, Cluster, Member, until
from worker.errors import BrokerError, FatalError, FencedError
from worker.ports.records import EndAnswer, NextOffset, OutMessage, PartitionEnd, Record


def numbered(first: int, last: int) -> list[str]:
    return [str(number) for number in range(first, last)]


def an_aborted_record(cluster: Cluster) -> None:
    publisher = cluster.publisher("aborting")
    publisher.init_transactions(PATIENCE_S)
    publisher.begin()
    publisher.publish(OutMessage(topic=cluster.topic, partition=0, key=None, value=b"aborted"))
    cluster.send(publisher)
    publisher.abort(PATIENCE_S)


def test_a_record_comes_as_it_was_written(cluster: Cluster) -> None:
    cluster.append("a word")
    member = Member(cluster.source())
    until(lambda: bool(member.records), member)
    (record,) = member.records
    assert (record.partition, record.offset, record.key, record.value) == (0, 0, b"key", b"a word")
    assert record.headers == (("h", b"x"),)
    assert record.timestamp_ms > 1_600_000_000_000


def test_records_come_in_order_and_no_more_at_once_than_asked_for(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 50))
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    member.source.seek(0, 0)
    member.source.resume([0])
    seen: list[str] = []
    while len(seen) < 50:
        items = member.source.poll(7, 0.2)
        records = [item for item in items if isinstance(item, Record)]
        assert len(records) <= 7
        seen.extend((record.value or b"").decode() for record in records)
    assert seen == numbered(0, 50)


def test_nothing_of_a_new_partition_is_delivered_before_it_is_sought_and_resumed(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 5))
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    for _ in range(10):
        member.step()
    member.source.seek(0, 2)
    for _ in range(10):
        member.step()
    assert member.records == []
    member.source.resume([0])
    until(lambda: len(member.records) == 3, member)
    assert member.values() == ["2", "3", "4"]


def test_a_partition_that_was_never_sought_cannot_be_resumed(cluster: Cluster) -> None:
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    with pytest.raises(FatalError, match="before they were sought"):
        member.source.resume([0])


def test_the_end_is_told_with_the_next_offset_once_everything_before_it_was_delivered(cluster: Cluster) -> None:
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


def test_a_question_hears_of_what_was_appended_before_it_though_nothing_of_it_was_polled(cluster: Cluster) -> None:
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


def test_of_two_questions_of_a_partition_the_later_one_is_answered(cluster: Cluster) -> None:
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


def test_an_aborted_record_is_never_delivered(cluster: Cluster) -> None:
    cluster.append("0")
    an_aborted_record(cluster)
    cluster.append("1")
    member = Member(cluster.source())
    until(lambda: len(member.records) == 2, member)
    until(lambda: bool(member.ends), member)
    assert member.values() == ["0", "1"]


def test_nobody_reads_past_an_open_transaction(cluster: Cluster) -> None:
    publisher = cluster.publisher("open")
    publisher.init_transactions(PATIENCE_S)
    member = Member(cluster.source())
    until(lambda: 0 in member.ends, member)
    publisher.begin()
    publisher.publish(OutMessage(topic=cluster.topic, partition=0, key=None, value=b"open"))
    cluster.send(publisher)
    cluster.append("after")
    for _ in range(5):
        member.step()
    assert member.records == []
    publisher.commit(PATIENCE_S)
    until(lambda: len(member.records) == 2, member)
    assert member.values() == ["open", "after"]


def test_a_paused_partition_is_silent_and_goes_on_where_it_was(two_partitions: Cluster) -> None:
    cluster = two_partitions
    member = Member(cluster.source())
    until(lambda: len(member.ends) == 2, member)
    member.source.pause([0])
    member.source.pause([0])
    cluster.append(*numbered(0, 3), partition=0)
    cluster.append(*numbered(10, 13), partition=1)
    until(lambda: len(member.values(1)) == 3, member)
    assert member.values(0) == []
    member.source.resume([0])
    until(lambda: len(member.values(0)) == 3, member)
    assert member.values(0) == numbered(0, 3)


def test_a_pause_in_the_middle_of_a_backlog_loses_and_repeats_nothing(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 200))
    member = Member(cluster.source())
    member.max_records = 10
    until(lambda: len(member.records) >= 10, member)
    for _ in range(5):
        member.source.pause([0])
        member.source.resume([0])
        member.step()
    until(lambda: len(member.records) >= 200, member)
    assert member.values() == numbered(0, 200)


@pytest.mark.parametrize("next_offset", [0, 3, 40, 99])
def test_after_a_seek_nothing_from_elsewhere_is_delivered(cluster: Cluster, next_offset: int) -> None:
    cluster.append(*numbered(0, 100))
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    member.source.seek(0, 10)
    member.source.resume([0])
    member.max_records = 10
    until(lambda: bool(member.records), member)
    member.records.clear()
    member.source.seek(0, next_offset)
    until(lambda: len(member.records) == 100 - next_offset, member)
    assert member.values() == numbered(next_offset, 100)


def test_a_partition_of_somebody_else_can_be_neither_sought_nor_resumed(cluster: Cluster) -> None:
    source = cluster.source()
    with pytest.raises(BrokerError):
        source.seek(0, 0)
    with pytest.raises(BrokerError):
        source.resume([0])


def test_an_offset_out_of_range_is_told_and_a_seek_goes_on(cluster: Cluster) -> None:
    cluster.append(*numbered(0, 10))
    cluster.delete_before(0, 6)
    member = Member(cluster.source(), claims=False)
    until(lambda: 0 in member.held, member)
    member.source.seek(0, 2)
    member.source.resume([0])
    until(lambda: 0 in member.stalled, member)
    assert member.records == []
    earliest, end = member.source.watermarks(0, PATIENCE_S)
    assert (earliest, end) == (6, 10)
    member.source.seek(0, earliest)
    until(lambda: len(member.records) == 4, member)
    assert member.values() == numbered(6, 10)


def test_where_nothing_was_committed_nothing_is_found(two_partitions: Cluster) -> None:
    assert two_partitions.source().committed([0, 1], PATIENCE_S) == {0: None, 1: None}


def test_committed_offsets_are_not_told_while_a_transaction_on_them_is_open(two_partitions: Cluster) -> None:
    cluster = two_partitions
    member = Member(cluster.source())
    until(lambda: len(member.held) == 2, member)
    publisher = cluster.publisher("slow")
    publisher.init_transactions(PATIENCE_S)
    publisher.begin()
    publisher.send_offsets({0: NextOffset(next_offset=7, metadata="id 7")}, member.source.membership(), PATIENCE_S)
    with pytest.raises(BrokerError):
        member.source.committed([0], 0.5)
    assert member.source.committed([1], PATIENCE_S) == {1: None}
    publisher.commit(PATIENCE_S)
    found = member.source.committed([0], PATIENCE_S)[0]
    assert found is not None
    assert (found.next_offset, found.metadata) == (7, "id 7")


def test_the_partition_count_is_the_topics(two_partitions: Cluster) -> None:
    assert two_partitions.source().partition_count(PATIENCE_S) == 2


def test_a_topic_that_is_missing_is_named(cluster: Cluster) -> None:
    with pytest.raises(FatalError, match="no-such-topic"):
        cluster.source(topic="no-such-topic").partition_count(PATIENCE_S)


def test_two_members_share_the_partitions_and_each_record_has_one_owner(two_partitions: Cluster) -> None:
    cluster = two_partitions
    log: list[tuple[str, str, int]] = []
    first = Member(cluster.source(), log=log)
    until(lambda: first.held == {0, 1}, first)
    second = Member(cluster.source(), log=log)
    until(lambda: len(first.held) == len(second.held) == 1, first, second)
    cluster.append("zero", partition=0)
    cluster.append("one", partition=1)
    until(lambda: len(first.records) + len(second.records) == 2, first, second)
    assert sorted(first.values(0) + second.values(0)) == ["zero"]
    assert sorted(first.values(1) + second.values(1)) == ["one"]
    assert first.held.isdisjoint(second.held)
    _owned_by_one_at_a_time(log)


def test_a_third_member_takes_over_only_what_was_given_up_first(six_partitions: Cluster) -> None:
    cluster = six_partitions
    log: list[tuple[str, str, int]] = []
    members = [Member(cluster.source(), log=log)]
    until(lambda: len(members[0].held) == 6, *members)
    for count in (2, 3):
        members.append(Member(cluster.source(), log=log))
        until(partial(_shared_evenly, members, 6 // count), *members)
    for partition in range(6):
        cluster.append(*numbered(0, 5), partition=partition)
    until(lambda: sum(len(member.records) for member in members) == 30, *members)
    for partition in range(6):
        assert sorted(itertools.chain(*(member.values(partition) for member in members))) == numbered(0, 5)
    _owned_by_one_at_a_time(log)


def _shared_evenly(members: list[Member], share: int) -> bool:
    return all(len(member.held) == share for member in members)


def _owned_by_one_at_a_time(log: list[tuple[str, str, int]]) -> None:
    """Check that between two members' assignments of a partition its first owner was told to let go."""
    owner: dict[int, str] = {}
    for name, event, partition in log:
        if event == "assigned":
            assert partition not in owner
            owner[partition] = name
        else:
            assert owner.pop(partition) == name


def test_a_member_that_closes_hears_it_and_the_others_take_over(two_partitions: Cluster) -> None:
    cluster = two_partitions
    first, second = Member(cluster.source()), Member(cluster.source())
    until(lambda: len(first.held) == len(second.held) == 1, first, second)
    (given_up,) = first.held
    first.source.close()
    first.source.close()
    assert first.heard("revoked")[-1:] == [given_up]
    assert first.heard("lost") == []
    until(lambda: second.held == {0, 1}, second)


def test_an_expelled_member_hears_of_a_loss_and_may_join_again(two_partitions: Cluster) -> None:
    cluster = two_partitions
    zombie, heir = Member(cluster.source()), Member(cluster.source())
    until(lambda: len(zombie.held) == len(heir.held) == 1, zombie, heir)
    (lost,) = zombie.held
    cluster.expel(zombie, heir)
    until(lambda: heir.held == {0, 1}, heir)
    assert zombie.heard("lost") == []
    until(lambda: zombie.heard("lost") == [lost], zombie, heir)
    assert lost not in zombie.heard("revoked")
    until(lambda: len(zombie.held) == len(heir.held) == 1, zombie, heir)


def test_a_member_is_current_only_once_it_has_joined(cluster: Cluster) -> None:
    source = cluster.source()
    assert not source.membership().current
    member = Member(source)
    until(lambda: bool(member.held), member)
    assert source.membership().current


def test_what_a_listener_raises_comes_out_of_poll_and_breaks_no_rebalance(two_partitions: Cluster) -> None:
    cluster = two_partitions
    first = Member(cluster.source())
    until(lambda: first.held == {0, 1}, first)
    first.on_revoke = _raise
    second = Member(cluster.source())
    with pytest.raises(FatalError, match="LookupError") as raised:
        until(lambda: False, first, second)
    assert isinstance(raised.value.__cause__, LookupError)
    until(lambda: len(second.held) == 1, second)


def _raise(_: object) -> None:
    raise LookupError("a listener's own mistake")


def test_a_static_member_that_was_replaced_is_fenced(static_members: Cluster) -> None:
    cluster = static_members
    first = Member(cluster.source(instance_id="worker-0"))
    until(lambda: bool(first.held), first)
    second = Member(cluster.source(instance_id="worker-0"))
    until(lambda: bool(second.held), second)
    with pytest.raises(FencedError):
        until(lambda: False, first, second)


def test_the_end_of_each_partition_is_told_by_itself(two_partitions: Cluster) -> None:
    cluster = two_partitions
    cluster.append("only here", partition=1)
    member = Member(cluster.source())
    until(lambda: member.ends == {0: 0, 1: 1}, member)
    ends = [item for item in member.source.poll(10, 0.2) if isinstance(item, PartitionEnd)]
    assert ends == []
