"""A consumer group in memory: several members, cooperative rebalances, generations, expulsion of a member.

A partition changes hands only after its owner has given it up or was expelled. A member learns of changes only in its
own poll. Until then its generation and member id stay the same; so tests make zombies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class GroupMember:
    """What the coordinator knows of a member. generation: the one it has joined last."""

    member_id: str
    instance_id: str | None
    generation: int = 0
    owned: set[int] = field(default_factory=set)


@dataclass(slots=True)
class MemoryGroup:
    """One group reading one topic. generation grows with every change of its members or partitions."""

    generation: int = 0
    partitions: int = 0
    _members: dict[str, GroupMember] = field(default_factory=dict)
    _fenced: set[str] = field(default_factory=set)
    _joined: int = 0

    def join(self, instance_id: str | None = None) -> GroupMember:
        """Add a member. A static one takes the place of the member with its instance id, which is fenced."""
        self._joined += 1
        member = GroupMember(member_id=f"member-{self._joined}", instance_id=instance_id)
        former = next((one for one in self._members.values() if instance_id and one.instance_id == instance_id), None)
        if former is not None:
            del self._members[former.member_id]
            self._fenced.add(former.member_id)
        self._members[member.member_id] = member
        self.generation += 1
        return member

    def leave(self, member_id: str) -> None:
        """Remove a member that closed or was expelled; what it held is free."""
        if self._members.pop(member_id, None) is not None:
            self.generation += 1

    def resize(self, partitions: int) -> None:
        """Take note of the topic's partition count."""
        if partitions != self.partitions:
            self.partitions = partitions
            self.generation += 1

    def member(self, member_id: str) -> GroupMember | None:
        """Return a member, None where it was expelled or fenced."""
        return self._members.get(member_id)

    def fenced(self, member_id: str) -> bool:
        """Whether a newer static member took this one's place."""
        return member_id in self._fenced

    def accepts(self, member_id: str, generation: int) -> bool:
        """Whether a commit in this member's name is of the generation that it joined last."""
        member = self._members.get(member_id)
        return member is not None and member.generation == generation

    def to_revoke(self, member: GroupMember) -> list[int]:
        """Return what a member holds and must give up."""
        return sorted(member.owned - self._target()[member.member_id])

    def to_assign(self, member: GroupMember) -> list[int]:
        """Return what a member shall hold, does not yet, and nobody else holds."""
        held = {partition for one in self._members.values() for partition in one.owned}
        return sorted(self._target()[member.member_id] - held)

    def give_up(self, member: GroupMember, partitions: Iterable[int]) -> None:
        """Free partitions; others hear of it in the generation that this begins."""
        member.owned -= set(partitions)
        self.generation += 1

    def take(self, member: GroupMember, partitions: Collection[int]) -> None:
        """Give a member partitions."""
        member.owned |= set(partitions)

    def _target(self) -> dict[str, set[int]]:
        """Return a balanced assignment that moves as little as it can: each keeps its first, the rest fill up."""
        members = list(self._members.values())
        least, more = divmod(self.partitions, len(members))
        by_need = sorted(members, key=lambda member: -len(member.owned))
        quota = {member.member_id: least + (place < more) for place, member in enumerate(by_need)}
        target = {member.member_id: set(sorted(member.owned)[: quota[member.member_id]]) for member in members}
        taken = {partition for kept in target.values() for partition in kept}
        free = [partition for partition in range(self.partitions) if partition not in taken]
        for member in members:
            room = quota[member.member_id] - len(target[member.member_id])
            target[member.member_id].update(free[:room])
            free = free[room:]
        return target
