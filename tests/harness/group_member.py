"""A member of a group on whatever Kafka a contract suite is run on, and what it has heard and read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from caesura.worker.errors import BrokerError
from caesura.worker.ports.records import CommittedOffset, EndAnswer, PartitionEnd, PartitionStalled, Record
from caesura.worker.ports.word_source import WordSource
from tests.harness.parts.kafka_part import unique
from tests.harness.waiting import wait_until

PATIENCE_S = 60.0
"""How long anything may take before a test fails; no test is about time."""
ASK_S = 5.0
"""For one question for offsets: who waits longer keeps the other members of its thread from polling meanwhile."""


class Member:
    """A source with a listener that claims as a worker would, seeking new partitions to what is committed."""

    def __init__(
        self, source: WordSource, *, claims: bool = True, log: list[tuple[str, str, int]] | None = None
    ) -> None:
        self.source = source
        self.name = unique("member")
        self.log = [] if log is None else log
        self.max_records = 500
        self.held: set[int] = set()
        self.records: list[Record] = []
        self.ends: dict[int, int] = {}
        self.stalled: dict[int, str] = {}
        self.on_revoke: Callable[[Sequence[int]], None] = lambda _: None
        self._claims = claims
        self._new: set[int] = set()
        source.subscribe(self)

    def on_assigned(self, partitions: Sequence[int]) -> None:
        self._hear("assigned", partitions)
        self.held.update(partitions)
        self._new.update(partitions)

    def on_revoked(self, partitions: Sequence[int]) -> None:
        self._hear("revoked", partitions)
        self.on_revoke(partitions)
        self._let_go(partitions)

    def on_lost(self, partitions: Sequence[int]) -> None:
        self._hear("lost", partitions)
        self._let_go(partitions)

    def heard(self, event: str) -> list[int]:
        return [partition for name, what, partition in self.log if (name, what) == (self.name, event)]

    def values(self, partition: int = 0) -> list[str]:
        return [text(record) for record in self.records if record.partition == partition]

    def step(self) -> None:
        """Poll once, then claim what is new."""
        try:
            items = self.source.poll(self.max_records, 0.05)
        except BrokerError:  # it passes by itself: the loop of a worker goes on polling too
            items = []
        for item in items:
            if isinstance(item, Record):
                self.records.append(item)
            elif isinstance(item, PartitionEnd):
                self.ends[item.partition] = item.next_offset
            elif isinstance(item, PartitionStalled):
                self.stalled[item.partition] = item.reason
        if self._claims:
            self._claim()

    def committed(self, partition: int = 0) -> CommittedOffset | None:
        """Return what is committed; whoever is none of the group's members polls and asks again, as a worker does."""
        return wait_until(
            lambda: self._asked([partition]),
            "no coordinator showed that it counts",
            within_s=PATIENCE_S,
            every_s=0,
            meanwhile=self.step,
        )[partition]

    def at_end(self, partition: int, next_offset: int) -> bool:
        """Ask the leader whether the log ends here, without polling, until it says (it hides what is being written)."""
        said = wait_until(
            lambda: self._said(partition, next_offset), "the leader never said", within_s=PATIENCE_S, every_s=0.01
        )
        return said is not None and said.at_end is True

    def _said(self, partition: int, next_offset: int) -> EndAnswer | None:
        self.source.ask_ends({partition: next_offset}, PATIENCE_S)
        answer = wait_until(
            lambda: list(self.source.end_answers()), "the leader never answered", within_s=PATIENCE_S, every_s=0.01
        )[0]
        assert (answer.partition, answer.next_offset) == (partition, next_offset)
        assert not answer.failure, answer.failure
        return None if answer.at_end is None else answer

    def _claim(self) -> None:
        if not self._new:
            return
        for partition, offset in self._asked(sorted(self._new)).items():
            self.source.seek(partition, 0 if offset is None else offset.next_offset)
            self.source.resume([partition])
            self._new.discard(partition)

    def _asked(self, partitions: Sequence[int]) -> dict[int, CommittedOffset | None]:
        """Return what is committed; nothing where nobody says it, or we are no member: ask again, as a worker does."""
        try:
            return dict(self.source.committed(partitions, ASK_S))
        except BrokerError:
            return {}

    def _hear(self, event: str, partitions: Sequence[int]) -> None:
        self.log.extend((self.name, event, partition) for partition in partitions)

    def _let_go(self, partitions: Sequence[int]) -> None:
        self.held.difference_update(partitions)
        self._new.difference_update(partitions)


def text(record: Record) -> str:
    return (record.value or b"").decode()


def until(condition: Callable[[], bool], *members: Member) -> None:
    """Let the members poll in turn until the condition holds; fail when patience is over."""

    def step() -> None:
        for member in members:
            member.step()

    wait_until(condition, within_s=PATIENCE_S, every_s=0, meanwhile=step)
