"""Words in: a member of the consumer group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from caesura.worker.ports.records import CommittedOffset, EndAnswer, PartitionEnd, PartitionStalled, Record


class GroupMembership(Protocol):
    """The group's metadata as a transaction needs it; opaque but for ``current``."""

    @property
    def current(self) -> bool:
        """False where generation or member id say that brokers would take the commit unfenced."""
        ...


class RebalanceListener(Protocol):
    """What the runtime does in a rebalance; called inside ``WordSource.poll`` or ``close``.

    No transaction is open there. FencedError and FatalError alone may come out, through ``poll`` or ``close``.
    """

    def on_assigned(self, partitions: Sequence[int]) -> None:
        """Take note: the partitions are assigned and paused, to be claimed by the loop."""
        ...

    def on_revoked(self, partitions: Sequence[int]) -> None:
        """Commit how often a rebuild was tried, then let go: until this returns no other worker has the partitions."""
        ...

    def on_lost(self, partitions: Sequence[int]) -> None:
        """Let go without another write: somebody else may have the partitions already."""
        ...


class WordSource(Protocol):
    """A member of the consumer group, reading one topic."""

    @property
    def topic(self) -> str:
        """The input topic."""
        ...

    def subscribe(self, listener: RebalanceListener) -> None:
        """Join the group. New partitions are assigned incrementally and paused before the listener hears of them."""
        ...

    def partition_count(self, timeout_s: float) -> int:
        """Return the topic's partition count. May block; BrokerError, FatalError where the topic is missing."""
        ...

    def poll(self, max_records: int, timeout_s: float) -> list[Record | PartitionEnd | PartitionStalled]:
        """Return what has come, at most ``max_records`` records; waits up to the time-out for the first.

        Rebalance callbacks run inside. BrokerError where it passes by itself, FencedError where a static member was
        replaced, FatalError otherwise.
        """
        ...

    def pause(self, partitions: Sequence[int]) -> None:
        """Stop delivering these assigned partitions; pausing twice is harmless. Does not block; BrokerError."""
        ...

    def resume(self, partitions: Sequence[int]) -> None:
        """Deliver these assigned partitions again. Does not block; BrokerError."""
        ...

    def seek(self, partition: int, next_offset: int, leader_epoch: int | None = None) -> None:
        """Go on from ``next_offset``; records already fetched from elsewhere are never delivered. BrokerError.

        leader_epoch: of the record before it. Where the log was cut below it and has grown again, ``poll`` returns a
        ``PartitionStalled`` in place of records.
        """
        ...

    def committed(
        self, partitions: Sequence[int], timeout_s: float, *, leave: Callable[[str], str] | None = None
    ) -> dict[int, CommittedOffset | None]:
        """Read the committed offsets with stable offsets required: waits while a transaction on one is open.

        leave: for one partition, which is claimed: given what its last claim left with the group, "" where that is not
        known, it returns what this one leaves there for the next, in ASCII without a line's end. It may be asked
        several times, and nothing is answered before that stands.

        May block; BrokerError where a transaction is still open at the time-out. None: nothing was ever committed.
        """
        ...

    def watermarks(self, partition: int, timeout_s: float) -> tuple[int, int]:
        """Ask the leader for the earliest and the end offset. May block; BrokerError."""
        ...

    def ask_ends(self, next_offsets: Mapping[int, int], timeout_s: float) -> None:
        """Ask the leaders of these partitions whether anything lies at or after these offsets. Does not block.

        Asked again, or sought, or lost meanwhile, an earlier question of a partition gets no answer. FatalError where
        its client is closed.
        """
        ...

    def end_answers(self) -> list[EndAnswer]:
        """Return the answers that have come since the last call. Does not block.

        A leader had the question after ``ask_ends`` was called; one that is slow holds up no other leader's answer.
        """
        ...

    def membership(self) -> GroupMembership:
        """Return the group's metadata as of now. Does not block; BrokerError, FencedError, FatalError."""
        ...

    def close(self) -> None:
        """Leave the group; the listener hears ``on_revoked`` for what is held. May block."""
        ...
