"""The in-memory word source on ``MemoryBroker`` (``caesura.worker.ports.word_source.WordSource``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from typing_extensions import override

from caesura.worker.adapters.memory.broker import Call, MemoryBroker, MemoryMembership
from caesura.worker.adapters.memory.fetch_position import FetchPosition
from caesura.worker.errors import BrokerError, FatalError, FencedError
from caesura.worker.ports.records import CommittedOffset, EndAnswer, PartitionEnd, PartitionStalled, Record
from caesura.worker.ports.word_source import RebalanceListener, WordSource


class MemoryWordSource(WordSource):
    """A member of ``group_id``. It hears of rebalances in ``poll`` and ``close`` only, as a real one does.

    slow_leaders: partitions whose leaders' answers are on their way, for as long as a test wants.
    """

    def __init__(
        self, broker: MemoryBroker, topic: str, *, group_id: str = "caesura", instance_id: str | None = None
    ) -> None:
        self._broker = broker
        self._topic = topic
        self._group_id = group_id
        self._instance_id = instance_id
        self._listener: RebalanceListener | None = None
        self._member_id = ""
        self._generation = -1
        self._readings: dict[int, FetchPosition] = {}
        self._fetched: dict[int, int] | None = None
        self._answers: dict[int, EndAnswer] = {}
        self.slow_leaders: set[int] = set()
        self._next_served = 0
        self._closed = False
        self._fault: FatalError | FencedError | None = None

    @property
    @override
    def topic(self) -> str:
        return self._topic

    @property
    def member_id(self) -> str:
        """The member id as this member knows it; empty before ``subscribe``."""
        return self._member_id

    @override
    def subscribe(self, listener: RebalanceListener) -> None:
        """Join the group; the first assignment comes with a poll."""
        self._listener = listener
        self._member_id = self._broker.group(self._group_id, self._topic).join(self._instance_id).member_id

    @override
    def partition_count(self, timeout_s: float) -> int:
        del timeout_s
        self._fail("partition_count")
        return len(self._broker.logs(self._topic))

    @override
    def poll(self, max_records: int, timeout_s: float) -> list[Record | PartitionEnd | PartitionStalled]:
        """Return what has come, the partitions taking turns; rebalance callbacks run inside."""
        self._fail("poll")
        if self._listener is not None:
            self._rebalance(self._listener)
            self._raise_fault()
        found: list[Record | PartitionEnd | PartitionStalled] = []
        records = 0
        for partition in self._in_turn():
            items = self._read(partition, max_records - records)
            records += sum(isinstance(item, Record) for item in items)
            found.extend(items)
        if not found:
            self._broker.wait(timeout_s)
        return found

    @override
    def pause(self, partitions: Sequence[int]) -> None:
        self._fail("pause")
        for partition in partitions:
            self._reading(partition).paused = True

    @override
    def resume(self, partitions: Sequence[int]) -> None:
        """Deliver these assigned partitions again; FatalError for one that was never sought."""
        unsought = [partition for partition in partitions if self._reading(partition).next_offset is None]
        if unsought:
            raise FatalError(f"partitions {unsought} of {self._topic} were resumed before they were sought")
        self._fail("resume")
        for partition in partitions:
            self._reading(partition).resume()

    @override
    def seek(self, partition: int, next_offset: int, leader_epoch: int | None = None) -> None:
        self._readings[partition] = self._reading(partition).sought(next_offset, leader_epoch)
        self._answers.pop(partition, None)
        if self._fetched is not None:
            self._fetched.pop(partition, None)

    @override
    def committed(
        self, partitions: Sequence[int], timeout_s: float, *, leave: Callable[[str], str] | None = None
    ) -> dict[int, CommittedOffset | None]:
        """Read the committed offsets, stable ones; BrokerError while a transaction on one is open."""
        self._fail("committed")
        try:
            found = {
                partition: self._broker.committed(self._group_id, self._topic, partition) for partition in partitions
            }
        except BrokerError:
            self._broker.wait(timeout_s)
            raise
        if leave is not None:
            (partition,) = partitions
            self._broker.leave(self._group_id, self._topic, partition, leave)
        return found

    @override
    def watermarks(self, partition: int, timeout_s: float) -> tuple[int, int]:
        """Return the earliest offset and the last stable one."""
        del timeout_s
        self._fail("watermarks")
        log = self._broker.log(self._topic, partition)
        return log.start, log.stable_end

    @override
    def ask_ends(self, next_offsets: Mapping[int, int], timeout_s: float) -> None:
        """Ask whether anything lies at or after these offsets; the answer is as of now, whenever it is heard."""
        del timeout_s
        for partition, next_offset in next_offsets.items():
            fault = self._broker.take_fault("ask_ends", self._member_id)
            if fault is None:
                hides = self._broker.log(self._topic, partition).hides
                at_end = None if hides else self._ends(partition, next_offset)
                answer = EndAnswer(partition=partition, next_offset=next_offset, at_end=at_end)
            else:
                failure = str(fault.error)
                answer = EndAnswer(partition=partition, next_offset=next_offset, at_end=None, failure=failure)
            self._answers[partition] = answer

    @override
    def end_answers(self) -> list[EndAnswer]:
        come = [partition for partition in self._answers if partition not in self.slow_leaders]
        return [self._answers.pop(partition) for partition in come]

    def hold_fetches(self) -> None:
        """Fetch nothing more until ``fetch_again``: what lies here is delivered, and its end told as it was then."""
        self._fetched = {partition: self._stable_end(partition) for partition in self._readings}

    def fetch_again(self) -> None:
        """Fetch from the leaders as before."""
        self._fetched = None

    @override
    def membership(self) -> MemoryMembership:
        """Return the group's metadata as this member knows it."""
        return MemoryMembership(group_id=self._group_id, member_id=self._member_id, generation=self._generation)

    @override
    def close(self) -> None:
        """Leave the group; the listener hears what is given up."""
        if self._closed:
            return
        self._closed = True
        group = self._broker.group(self._group_id, self._topic)
        held = sorted(self._readings)
        if self._listener is not None and held:
            expelled = group.member(self._member_id) is None
            self._let_go(self._listener.on_lost if expelled else self._listener.on_revoked, held)
        group.leave(self._member_id)
        self._generation = -1

    def _rebalance(self, listener: RebalanceListener) -> None:
        group = self._broker.group(self._group_id, self._topic)
        if group.fenced(self._member_id):
            raise FencedError("a newer static member has this one's instance id")
        member = group.member(self._member_id)
        if member is None:
            self._let_go(listener.on_lost, sorted(self._readings))
            self._generation = -1
            member = group.join(self._instance_id)
            self._member_id = member.member_id
        revoked = group.to_revoke(member)
        if revoked:
            self._let_go(listener.on_revoked, revoked)
            if group.member(self._member_id) is None:  # expelled meanwhile: it hears of that in its next poll
                return
            group.give_up(member, revoked)
        self._generation = member.generation = group.generation
        assigned = group.to_assign(member)
        if assigned:
            group.take(member, assigned)
            self._readings |= {partition: FetchPosition() for partition in assigned}
            self._tell(listener.on_assigned, assigned)

    def _ends(self, partition: int, next_offset: int) -> bool:
        end = self._broker.log(self._topic, partition).end
        reading = self._readings.get(partition)
        if end <= next_offset:
            return True
        return reading is not None and reading.met_end(end, next_offset)

    def _stable_end(self, partition: int) -> int:
        return self._broker.log(self._topic, partition).stable_end

    def _let_go(self, event: Callable[[Sequence[int]], None], partitions: list[int]) -> None:
        if partitions:
            self._tell(event, partitions)
        for partition in partitions:
            self._readings.pop(partition, None)
            self._answers.pop(partition, None)

    def _tell(self, event: Callable[[Sequence[int]], None], partitions: list[int]) -> None:
        """Tell the listener; what it raises must not break the rebalance, and comes out of the poll."""
        try:
            event(partitions)
        except (FatalError, FencedError) as fault:
            self._fault = fault
        except Exception as exception:  # noqa: BLE001 (whatever it is; poll raises it)
            self._fault = FatalError(f"a rebalance listener raised {type(exception).__name__}")
            self._fault.__cause__ = exception

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _in_turn(self) -> list[int]:
        """Return the partitions to read, another one first each time."""
        ready = sorted(partition for partition, reading in self._readings.items() if not reading.paused)
        if not ready:
            return []
        self._next_served += 1
        first = self._next_served % len(ready)
        return ready[first:] + ready[:first]

    def _read(self, partition: int, max_records: int) -> list[Record | PartitionEnd | PartitionStalled]:
        fetched_to = None if self._fetched is None else self._fetched.get(partition, -1)
        return self._readings[partition].read(self._broker.log(self._topic, partition), max_records, fetched_to)

    def _reading(self, partition: int) -> FetchPosition:
        reading = self._readings.get(partition)
        if reading is None:
            raise BrokerError(f"partition {partition} of {self._topic} is not assigned here")
        return reading

    def _fail(self, call: Call) -> None:
        fault = self._broker.take_fault(call, self._member_id)
        if fault is not None:
            raise fault.error
