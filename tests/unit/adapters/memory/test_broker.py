"""The faults that the in-memory Kafka can be asked for, and what they leave behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.adapters.memory.group import GroupMember, MemoryGroup
from caesura.worker.adapters.memory.log import PartitionLog, Writer
from caesura.worker.adapters.memory.publisher import MemoryPublisher
from caesura.worker.adapters.memory.word_source import MemoryWordSource
from caesura.worker.errors import AbortableError, BrokerError, FatalError, FencedError, OutcomeUnknownError
from caesura.worker.ports.records import CommittedOffset, NextOffset, OutMessage, PartitionEnd, PartitionStalled, Record

PATIENCE_S = 1.0


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[str, list[int]]] = []

    def on_assigned(self, partitions: Sequence[int]) -> None:
        self.heard.append(("assigned", list(partitions)))

    def on_revoked(self, partitions: Sequence[int]) -> None:
        self.heard.append(("revoked", list(partitions)))

    def on_lost(self, partitions: Sequence[int]) -> None:
        self.heard.append(("lost", list(partitions)))


def a_broker(partitions: int = 1) -> MemoryBroker:
    broker = MemoryBroker(wall_ms=lambda: 5_000)
    broker.create_topic("words", partitions)
    broker.create_topic("out", partitions)
    return broker


def ready(broker: MemoryBroker, name: str = "worker-0") -> MemoryPublisher:
    publisher = MemoryPublisher(broker, name, "words")
    publisher.init_transactions(PATIENCE_S)
    return publisher


def joined(broker: MemoryBroker) -> MemoryWordSource:
    source = MemoryWordSource(broker, "words")
    source.subscribe(Listener())
    source.poll(1, 0)
    return source


def open_checkpoint(publisher: MemoryPublisher, source: MemoryWordSource, value: str = "out") -> None:
    publisher.begin()
    publisher.publish(OutMessage(topic="out", partition=0, key=None, value=value.encode()))
    publisher.send_offsets({0: NextOffset(next_offset=1, metadata=value)}, source.membership(), PATIENCE_S)


def values(broker: MemoryBroker, topic: str = "out") -> list[bytes | None]:
    return [record.value for record in broker.records(topic)]


def test_a_commit_whose_outcome_is_unknown_may_have_happened() -> None:
    broker = a_broker()
    publisher, source = ready(broker), joined(broker)
    broker.fail("commit", OutcomeUnknownError("no answer"), happened=True)
    open_checkpoint(publisher, source)
    with pytest.raises(OutcomeUnknownError):
        publisher.commit(PATIENCE_S)
    publisher.rebuild(PATIENCE_S)
    assert values(broker) == [b"out"]
    assert source.committed([0], PATIENCE_S) == {0: CommittedOffset(next_offset=1, metadata="out")}


def test_a_commit_whose_outcome_is_unknown_may_not_have_happened() -> None:
    broker = a_broker()
    publisher, source = ready(broker), joined(broker)
    broker.fail("commit", OutcomeUnknownError("no answer"))
    open_checkpoint(publisher, source)
    with pytest.raises(OutcomeUnknownError):
        publisher.commit(PATIENCE_S)
    assert broker.transaction_open("worker-0")
    with pytest.raises(BrokerError):
        source.committed([0], PATIENCE_S)
    with pytest.raises(OutcomeUnknownError):
        publisher.abort(PATIENCE_S)
    publisher.rebuild(PATIENCE_S)
    assert values(broker) == []
    assert source.committed([0], PATIENCE_S) == {0: None}


@pytest.mark.parametrize("happened", [False, True])
def test_after_an_unanswered_commit_only_a_rebuild_is_left(*, happened: bool) -> None:
    broker = a_broker()
    publisher, source = ready(broker), joined(broker)
    broker.fail("commit", BrokerError("no answer in time"), happened=happened)
    open_checkpoint(publisher, source)
    with pytest.raises(BrokerError):
        publisher.commit(PATIENCE_S)
    for call in (publisher.commit, publisher.abort):
        with pytest.raises(OutcomeUnknownError):
            call(PATIENCE_S)
    publisher.rebuild(PATIENCE_S)
    assert values(broker) == ([b"out"] if happened else [])


@pytest.mark.parametrize("call", ["publish", "send_offsets", "commit"])
def test_after_an_abortable_error_only_the_abort_is_left(call: str) -> None:
    broker = a_broker()
    publisher, source = ready(broker), joined(broker)
    broker.fail(call, AbortableError("spoiled"))  # type: ignore[arg-type]
    with pytest.raises(AbortableError):
        _checkpoint_and_commit(publisher, source)
    with pytest.raises(AbortableError):
        publisher.commit(PATIENCE_S)
    publisher.abort(PATIENCE_S)
    open_checkpoint(publisher, source, "next")
    publisher.commit(PATIENCE_S)
    assert values(broker) == [b"next"]


def _checkpoint_and_commit(publisher: MemoryPublisher, source: MemoryWordSource) -> None:
    open_checkpoint(publisher, source)
    publisher.commit(PATIENCE_S)


def test_a_fault_is_for_the_client_it_names_and_for_one_call() -> None:
    broker = a_broker()
    first, second = ready(broker, "worker-0"), ready(broker, "worker-1")
    broker.fail("begin", FatalError("only for worker-1"), of="worker-1")
    first.begin()
    with pytest.raises(FatalError, match="worker-1"):
        second.begin()
    second.begin()


def test_a_source_fails_when_asked_to() -> None:
    broker = a_broker()
    source = joined(broker)
    for call, act in (
        ("poll", lambda: source.poll(1, 0)),
        ("committed", lambda: source.committed([0], 0)),
        ("watermarks", lambda: source.watermarks(0, 0)),
        ("partition_count", lambda: source.partition_count(0)),
    ):
        broker.fail(call, BrokerError("away"))  # type: ignore[arg-type]
        with pytest.raises(BrokerError):
            act()
        act()


def test_an_offset_passed_by_retention_stalls_until_it_is_sought() -> None:
    broker = a_broker()
    for number in range(5):
        broker.append("words", 0, str(number).encode())
    source = joined(broker)
    broker.delete_before("words", 0, 3)
    source.seek(0, 1)
    source.resume([0])
    assert [type(item) for item in source.poll(10, 0)] == [PartitionStalled]
    assert source.poll(10, 0) == []
    source.seek(0, 3)
    assert [type(item) for item in source.poll(10, 0)] == [Record, Record, PartitionEnd]
    assert source.watermarks(0, 0) == (3, 5)


def test_an_offset_can_be_set_and_removed_from_outside() -> None:
    broker = a_broker()
    source = joined(broker)
    broker.set_offset("caesura", "words", 0, NextOffset(next_offset=7, metadata=""))
    assert source.committed([0], 0) == {0: CommittedOffset(next_offset=7, metadata="")}
    broker.set_offset("caesura", "words", 0, None)
    assert source.committed([0], 0) == {0: None}


def test_partitions_that_are_added_are_assigned() -> None:
    broker = a_broker(1)
    listener = Listener()
    source = MemoryWordSource(broker, "words")
    source.subscribe(listener)
    source.poll(1, 0)
    broker.add_partitions("words", 3)
    source.poll(1, 0)
    assert listener.heard == [("assigned", [0]), ("assigned", [1, 2])]


def test_a_zombie_does_not_know_and_its_old_membership_is_refused() -> None:
    broker = a_broker()
    zombie, publisher = joined(broker), ready(broker)
    broker.expel("caesura", "words", zombie.member_id)
    assert zombie.membership().current
    with pytest.raises(FencedError):
        open_checkpoint(publisher, zombie)
    publisher.abort(PATIENCE_S)


def test_a_poll_that_finds_nothing_waits_for_its_whole_time() -> None:
    waited: list[float] = []
    broker = MemoryBroker(wait=waited.append)
    broker.create_topic("words")
    source = joined(broker)
    source.poll(1, 0.25)
    assert waited == [0, 0.25]


def test_the_broker_stamps_what_is_appended_unless_told_otherwise() -> None:
    broker = a_broker()
    broker.append("words", 0, b"stamped")
    broker.append("words", 0, b"given", timestamp_ms=7)
    assert [record.timestamp_ms for record in broker.records("words")] == [5_000, 7]


WRITERS: list[Writer] = [("a", 0), ("b", 0), ("b", 1)]

Step = tuple[str, int]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("plain"), st.just(0)),
        st.tuples(st.sampled_from(["write", "commit", "abort"]), st.integers(0, len(WRITERS) - 1)),
        st.tuples(st.just("delete"), st.integers(0, 30)),
    ),
    max_size=40,
)


@dataclass
class Plain:
    """What happened, said without any cleverness: offset -> fate of the record, None for a marker."""

    fates: list[str | None] = field(default_factory=list)
    writers: list[int | None] = field(default_factory=list)
    start: int = 0

    def visible(self, first: int) -> list[int]:
        stable = next((at for at, fate in enumerate(self.fates) if fate == "open"), len(self.fates))
        return [at for at in range(max(first, self.start), stable) if self.fates[at] == "committed"]


def play(steps: list[Step]) -> tuple[PartitionLog, Plain]:
    log, plain = PartitionLog(0), Plain()
    for step, number in steps:
        if step == "delete":
            stable = next((at for at, fate in enumerate(plain.fates) if fate == "open"), len(plain.fates))
            offset = min(number, stable)  # retention keeps what is not stable
            log.delete_before(offset)
            plain.start = max(plain.start, offset)
        elif step in {"plain", "write"}:
            log.append(b"key", b"value", (), 0, WRITERS[number] if step == "write" else None)
            plain.fates.append("open" if step == "write" else "committed")
            plain.writers.append(number if step == "write" else None)
        else:
            log.end_transaction(WRITERS[number], 0, commit=step == "commit")
            for at, writer in enumerate(plain.writers):
                if writer == number and plain.fates[at] == "open":
                    plain.fates[at] = "committed" if step == "commit" else "aborted"
            plain.fates.append(None)
            plain.writers.append(None)
    return log, plain


@given(steps=STEPS, size=st.integers(1, 3))
def test_a_reader_sees_committed_records_before_the_first_open_one_however_it_reads(
    steps: list[Step], size: int
) -> None:
    log, plain = play(steps)
    assert log.end == len(plain.fates)
    records, next_offset = log.read(log.start, 1_000)
    assert [record.offset for record in records] == plain.visible(plain.start)
    assert next_offset == log.stable_end

    offsets: list[int] = []
    position = log.start
    while position < log.stable_end:
        records, position = log.read(position, size)
        assert len(records) <= size
        offsets += [record.offset for record in records]
    assert offsets == plain.visible(plain.start)

    records, _ = log.read(log.start, 1_000, committed=False)
    expected = [at for at in range(plain.start, len(plain.fates)) if plain.fates[at] is not None]
    assert [record.offset for record in records] == expected


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
