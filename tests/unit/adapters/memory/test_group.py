"""The in-memory group keeps a group's two laws, whatever happens in whatever order."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from caesura.worker.adapters.memory.group import GroupMember, MemoryGroup


class Groups(RuleBasedStateMachine):
    """Members join, poll, leave, are expelled; partitions are added."""

    def __init__(self) -> None:
        super().__init__()
        self.group = MemoryGroup()
        self.group.resize(4)
        self.members: dict[str, GroupMember] = {}
        self.zombies: list[GroupMember] = []

    @rule()
    def join(self) -> None:
        member = self.group.join()
        self.members[member.member_id] = member

    @precondition(lambda self: self.members)
    @rule(data=st.data())
    def poll(self, data: st.DataObject) -> None:
        self._poll(self.members[data.draw(st.sampled_from(sorted(self.members)))])

    @precondition(lambda self: self.members)
    @rule(data=st.data())
    def expel(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.members)))
        self.group.leave(name)
        self.zombies.append(self.members.pop(name))

    @rule(more=st.integers(min_value=0, max_value=2))
    def grow(self, more: int) -> None:
        self.group.resize(min(self.group.partitions + more, 9))

    def _poll(self, member: GroupMember) -> None:
        revoked = self.group.to_revoke(member)
        if revoked:
            self.group.give_up(member, revoked)
        member.generation = self.group.generation
        self.group.take(member, self.group.to_assign(member))

    @invariant()
    def no_partition_has_two_owners(self) -> None:
        owned = [partition for member in self.members.values() for partition in member.owned]
        assert len(owned) == len(set(owned))

    @invariant()
    def nobody_accepts_a_zombie(self) -> None:
        assert not any(self.group.accepts(zombie.member_id, zombie.generation) for zombie in self.zombies)

    def teardown(self) -> None:
        """When all poll often enough, every partition has an owner and the shares are even."""
        for _ in range(3):
            for member in self.members.values():
                self._poll(member)
        if self.members:
            shares = [len(member.owned) for member in self.members.values()]
            assert sum(shares) == self.group.partitions
            assert max(shares) - min(shares) <= 1


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
