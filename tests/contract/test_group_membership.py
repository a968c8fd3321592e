"""Who holds which partition, and what members hear of it: on the twin, and on a real broker, both protocols."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from caesura.worker.errors import FatalError, FencedError
from tests.contract.written import numbered
from tests.harness.clusters import Cluster
from tests.harness.group_member import Member, until


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


@pytest.mark.parametrize(
    ("raised_there", "kind", "told"),
    [
        (LookupError("a listener's own mistake"), FatalError, "LookupError"),
        (FencedError("as planned"), FencedError, "as planned"),
    ],
    ids=["a mistake", "a fence"],
)
def test_what_a_listener_raises_comes_out_of_poll_and_breaks_no_rebalance(
    two_partitions: Cluster, raised_there: Exception, kind: type[Exception], told: str
) -> None:
    """A fence stays one: a listener commits, and the exit status then says that another process has the id."""
    cluster = two_partitions
    first = Member(cluster.source())
    until(lambda: first.held == {0, 1}, first)

    def revoked(_: object) -> None:
        raise raised_there

    first.on_revoke = revoked
    second = Member(cluster.source())
    with pytest.raises(kind, match=told) as raised:
        until(lambda: False, first, second)
    assert raised_there in (raised.value, raised.value.__cause__)
    until(lambda: bool(second.held), second)  # both, where the first one, which polls no more, was removed before


def test_a_static_member_that_was_replaced_is_fenced(static_members: Cluster) -> None:
    cluster = static_members
    first = Member(cluster.source(instance_id="worker-0"))
    until(lambda: bool(first.held), first)
    second = Member(cluster.source(instance_id="worker-0"))
    until(lambda: bool(second.held), second)
    with pytest.raises(FencedError):
        until(lambda: False, first, second)
