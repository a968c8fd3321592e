"""A publisher whose next calls fail as planned, around a real one or a twin."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from caesura.worker.errors import AbortableError, ContentRefusedError, OutcomeUnknownError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.word_source import GroupMembership
from tests.harness.engines import DEADLY


class Plan(Enum):
    """What becomes of the next transaction."""

    COMMITS_UNTOLD = "commits, and nobody is told"
    NEVER_COMMITS = "does not commit, and nobody is told"
    ABORTS = "must be aborted when its offsets are sent"


class UnsurePublisher:
    """Does what the plan says to the next transactions, one after another; then it is as sure as what it wraps."""

    def __init__(self, sure: Publisher, *plans: Plan) -> None:
        self._sure = sure
        self.plans = list(plans)

    @property
    def transactional_id(self) -> str:
        return self._sure.transactional_id

    def init_transactions(self, timeout_s: float) -> None:
        self._sure.init_transactions(timeout_s)

    def begin(self) -> None:
        self._sure.begin()

    def publish(self, message: OutMessage) -> None:
        self._sure.publish(message)

    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        self._sure.send_offsets(offsets, membership, timeout_s)
        if self.plans and self.plans[0] is Plan.ABORTS:
            self.plans.pop(0)
            raise AbortableError("as planned")

    def commit(self, timeout_s: float) -> None:
        plan = self.plans.pop(0) if self.plans else None
        if plan is not Plan.NEVER_COMMITS:
            self._sure.commit(timeout_s)
        if plan is not None:
            raise OutcomeUnknownError("as planned")

    def end_of(self, topic: str, partition: int) -> int | None:
        return self._sure.end_of(topic, partition)

    def abort(self, timeout_s: float) -> None:
        self._sure.abort(timeout_s)

    def rebuild(self, timeout_s: float) -> None:
        self._sure.rebuild(timeout_s)

    def close(self) -> None:
        self._sure.close()


class ChokingPublisher(UnsurePublisher):
    """Refuses the content of every record that holds the deadly word, but in dead letters, and so its transaction."""

    takes: tuple[str, ...] = ("asr.words.dead",)
    choking = True
    _chokes = False
    _refusal = ContentRefusedError("as planned", topic="", partition=0, value=None)

    def begin(self) -> None:
        self._chokes = False
        super().begin()

    def publish(self, message: OutMessage) -> None:
        if not self._chokes and DEADLY.encode() in (message.value or b"") and message.topic not in self.takes:
            self._chokes = True
            self._refusal = ContentRefusedError(
                "as planned", topic=message.topic, partition=message.partition, value=message.value
            )
        super().publish(message)

    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        if self._chokes and self.choking:
            raise self._refusal
        super().send_offsets(offsets, membership, timeout_s)
