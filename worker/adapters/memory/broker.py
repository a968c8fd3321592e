"""A Kafka in memory with what the commit protocol needs: transactions, fencing, stable offsets, groups. No threads.

What a real broker does by time, a test asks for here: ``expire_transaction``, ``expel``, ``delete_before``. ``fail``
makes calls fail. Rules:

- A transactional id has an epoch; ``init_producer`` raises it and aborts the former producer's open transaction.
- Readers stop at the first record of an open transaction; they never see records of an aborted one.
- Offsets sent into a transaction, with their metadata, are committed or dropped with it. While it is open,
  ``committed`` does not answer.
- Offsets are accepted only from a member of the group, in the generation that it joined last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from typing_extensions import override

from caesura.worker.adapters.memory.group import MemoryGroup
from caesura.worker.adapters.memory.log import PartitionLog, Writer
from caesura.worker.errors import (
    BrokerError,
    CaesuraError,
    ContentRefusedError,
    FatalError,
    FencedError,
    OutcomeUnknownError,
)
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage, Record
from caesura.worker.ports.word_source import GroupMembership

Call = Literal[
    "partition_count",
    "poll",
    "pause",
    "resume",
    "committed",
    "watermarks",
    "ask_ends",
    "init_transactions",
    "begin",
    "publish",
    "send_offsets",
    "commit",
    "abort",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMembership(GroupMembership):
    """A member's view of itself at a moment."""

    group_id: str
    member_id: str
    generation: int

    @property
    @override
    def current(self) -> bool:
        """False before the first join."""
        return self.generation >= 0 and bool(self.member_id)


@dataclass(slots=True, kw_only=True)
class _Transaction:
    """A transactional id's state at the coordinator."""

    epoch: int = -1
    expired: set[int] = field(default_factory=set)
    partitions: set[tuple[str, int]] = field(default_factory=set)
    offsets: dict[tuple[str, str, int], NextOffset] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerFault:
    """One call that fails. happened: what it does is done all the same; of: only for this id, any where None."""

    call: Call
    error: CaesuraError
    happened: bool
    of: str | None


@dataclass(slots=True, kw_only=True)
class _Topic:
    logs: list[PartitionLog]
    max_message_bytes: int


class MemoryBroker:
    """wall_ms stamps appended records (LogAppendTime); wait is called where a poll finds nothing, with its time-out."""

    def __init__(
        self, *, wall_ms: Callable[[], int] = lambda: 0, wait: Callable[[float], None] = lambda _: None
    ) -> None:
        self.wall_ms = wall_ms
        self.wait = wait
        self._topics: dict[str, _Topic] = {}
        self._groups: dict[tuple[str, str], MemoryGroup] = {}
        self._offsets: dict[tuple[str, str, int], NextOffset] = {}
        self._left: dict[tuple[str, str, int], str] = {}
        self._transactions: dict[str, _Transaction] = {}
        self._faults: list[BrokerFault] = []

    def create_topic(self, topic: str, partitions: int = 1, *, max_message_bytes: int = 1_048_588) -> None:
        """Create a topic; FatalError where it is there."""
        if topic in self._topics:
            raise FatalError(f"topic {topic} exists")
        self._topics[topic] = _Topic(
            logs=[PartitionLog(partition) for partition in range(partitions)], max_message_bytes=max_message_bytes
        )

    def add_partitions(self, topic: str, partitions: int) -> None:
        """Grow a topic to this many partitions."""
        logs = self._topics[topic].logs
        logs.extend(PartitionLog(partition) for partition in range(len(logs), partitions))

    def append(
        self,
        topic: str,
        partition: int,
        value: bytes | None,
        *,
        key: bytes | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
        timestamp_ms: int | None = None,
    ) -> int:
        """Write one record outside of any transaction; return its offset. timestamp_ms: a producer's own."""
        stamped = timestamp_ms is None
        stamp = self.wall_ms() if timestamp_ms is None else timestamp_ms
        return self.log(topic, partition).append(key, value, headers, stamp, stamped=stamped)

    def records(self, topic: str, partition: int = 0, *, committed: bool = True) -> list[Record]:
        """Return what a reader of the partition sees."""
        log = self.log(topic, partition)
        return log.read(log.start, log.end, committed=committed)[0]

    def delete_before(self, topic: str, partition: int, offset: int) -> None:
        """Do what retention does."""
        self.log(topic, partition).delete_before(offset)

    def set_offset(self, group_id: str, topic: str, partition: int, offset: NextOffset | None) -> None:
        """Set a group's offset from outside, or remove it."""
        if offset is None:
            self._offsets.pop((group_id, topic, partition), None)
        else:
            self._offsets[group_id, topic, partition] = offset

    def expel(self, group_id: str, topic: str, member_id: str) -> None:
        """Do what a session time-out does: the member's partitions are free, and it does not know."""
        self.group(group_id, topic).leave(member_id)

    def expire_transaction(self, transactional_id: str) -> None:
        """Do what a transaction time-out does: abort, and fence the producer that had it open."""
        self._end(transactional_id, commit=False)
        transaction = self._transactions[transactional_id]
        transaction.expired.add(transaction.epoch)
        transaction.epoch += 1

    def transaction_open(self, transactional_id: str) -> bool:
        """Whether a transaction of this id is open at the coordinator."""
        transaction = self._transactions.get(transactional_id, _Transaction())
        return bool(transaction.partitions or transaction.offsets)

    def fail(self, call: Call, error: CaesuraError, *, happened: bool = False, of: str | None = None) -> None:
        """Make the next such call raise this error; ``of`` is a transactional id or a member id."""
        self._faults.append(BrokerFault(call=call, error=error, happened=happened, of=of))

    def take_fault(self, call: Call, of: str) -> BrokerFault | None:
        """Return and forget the first fault planned for this call of this client."""
        fault = next((one for one in self._faults if one.call == call and one.of in (None, of)), None)
        if fault is not None:
            self._faults.remove(fault)
        return fault

    def log(self, topic: str, partition: int) -> PartitionLog:
        """Return a partition's log; FatalError where there is none."""
        logs = self.logs(topic)
        if not 0 <= partition < len(logs):
            raise FatalError(f"topic {topic} has no partition {partition}")
        return logs[partition]

    def logs(self, topic: str) -> list[PartitionLog]:
        """Return a topic's logs; FatalError where it is missing."""
        if topic not in self._topics:
            raise FatalError(f"topic {topic} does not exist")
        return self._topics[topic].logs

    def group(self, group_id: str, topic: str) -> MemoryGroup:
        """Return a group, of the topic's partition count as it is now."""
        group = self._groups.setdefault((group_id, topic), MemoryGroup())
        group.resize(len(self.logs(topic)))
        return group

    def committed(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """Return a stable committed offset; BrokerError while a transaction that holds it is open."""
        place = (group_id, topic, partition)
        if any(place in transaction.offsets for transaction in self._transactions.values()):
            raise BrokerError(f"a transaction on the offset of partition {partition} of {topic} is open")
        return self.last_committed(group_id, topic, partition)

    def last_committed(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """Return a committed offset, whatever is open on it."""
        found = self._offsets.get((group_id, topic, partition))
        return (
            None
            if found is None
            else CommittedOffset(
                next_offset=found.next_offset, metadata=found.metadata, leader_epoch=found.leader_epoch
            )
        )

    def leave(self, group_id: str, topic: str, partition: int, leave: Callable[[str], str]) -> None:
        """Keep what a claim leaves for the next one, given what the last one left."""
        place = (group_id, topic, partition)
        self._left[place] = leave(self._left.get(place, ""))

    def init_producer(self, transactional_id: str) -> Writer:
        """Raise the id's epoch and abort what is open."""
        transaction = self._transactions.setdefault(transactional_id, _Transaction())
        self._end(transactional_id, commit=False)
        transaction.epoch += 1
        return transactional_id, transaction.epoch

    def write(self, writer: Writer, message: OutMessage) -> int:
        """Write one record inside the writer's transaction; return its offset."""
        transaction = self._of(writer)
        log = self.log(message.topic, message.partition)
        size = len(message.key or b"") + len(message.value or b"")
        size += sum(len(name) + len(value) for name, value in message.headers)
        if size > self._topics[message.topic].max_message_bytes:
            raise ContentRefusedError(
                f"publishing to {message.topic}: the record is too large",
                topic=message.topic,
                partition=message.partition,
                value=message.value,
            )
        offset = log.append(message.key, message.value, message.headers, self.wall_ms(), writer)
        transaction.partitions.add((message.topic, message.partition))
        return offset

    def write_offsets(
        self, writer: Writer, topic: str, offsets: Mapping[int, NextOffset], membership: MemoryMembership
    ) -> None:
        """Take offsets into the writer's transaction, from a member in its generation."""
        transaction = self._of(writer)
        group = self.group(membership.group_id, topic)
        if not group.accepts(membership.member_id, membership.generation):
            raise FencedError("sending offsets into the transaction: the group moved on")
        for partition, offset in offsets.items():
            transaction.offsets[membership.group_id, topic, partition] = offset

    def end_transaction(self, writer: Writer, *, commit: bool) -> None:
        """Commit or abort the writer's transaction."""
        self._of(writer)
        self._end(writer[0], commit=commit)

    def holds(self, writer: Writer) -> bool:
        """Whether this writer is still the newest of its id."""
        return self._transactions[writer[0]].epoch == writer[1]

    def _of(self, writer: Writer) -> _Transaction:
        transaction = self._transactions[writer[0]]
        if writer[1] in transaction.expired:
            raise OutcomeUnknownError(f"the broker timed the transaction of {writer[0]} out")
        if not self.holds(writer):
            raise FencedError(f"a newer producer of {writer[0]} exists")
        return transaction

    def _end(self, transactional_id: str, *, commit: bool) -> None:
        transaction = self._transactions[transactional_id]
        for topic, partition in sorted(transaction.partitions):
            self.log(topic, partition).end_transaction(
                (transactional_id, transaction.epoch), self.wall_ms(), commit=commit
            )
        if commit:
            self._offsets |= transaction.offsets
        transaction.partitions, transaction.offsets = set(), {}
