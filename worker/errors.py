"""The one error tree. Each adapter maps foreign exceptions to it in one place.

    CaesuraError
    ├── RetriableError          try again later; nothing was written, or writing again is harmless
    │   ├── StoreError          Redis did not answer, or answered with an error
    │   │   └── ForeignStateError   the value under our key is not ours: only an operator can fix it
    │   ├── BrokerError         Kafka did not answer in time, or no leader, or the like
    │   │   └── UnprovenOffsetError the coordinator did not show that its committed offset is current
    │   └── EngineError         an inference failed; the batch may be run session by session
    ├── AbortableError          the running transaction must be aborted; its partitions are then claimed again
    │   └── ContentRefusedError     a broker refused a record's content: too large, or invalid
    ├── OwnFaultError           our own code raised for one partition: its step is tried in another way
    ├── OutcomeUnknownError     the outcome of a commit is unknown: read the committed id back
    ├── FencedError             a newer owner exists: stop, and write nothing more
    ├── BadEventError           an input that can never be applied: dead letter, with a reason
    ├── ArgumentError           a caller of the library gave an impossible value; also a ValueError
    └── FatalError              wrong settings, unusable model, broken invariant: the process ends with the reason

No message has a word's text (promise 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override

from caesura.schemas.dead_letters import DeadLetterReason


class BrokerRole(StrEnum):
    """What a broker is to a transaction; the values are labels of a metric."""

    LEADER = "leader"
    GROUP_COORDINATOR = "group_coordinator"
    TRANSACTION_COORDINATOR = "transaction_coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedBroker:
    """The broker that did not answer. topic, partition: that it leads; empty and -1 for a coordinator."""

    role: BrokerRole
    topic: str = ""
    partition: int = -1

    @override
    def __str__(self) -> str:
        """Return it for people."""
        place = f" of {self.topic} [{self.partition}]" if self.role is BrokerRole.LEADER else ""
        return f"the {self.role.replace('_', ' ')}{place}"


class CaesuraError(Exception):
    """Anything this project raises on purpose. awaits: the broker that did not answer, where it is known."""

    awaits: AwaitedBroker | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """What to tell people, a line each. A line break within one came with a value from outside."""
        return tuple(map(str, self.args))

    @override
    def __str__(self) -> str:
        """Return all lines."""
        return "\n".join(self.lines)


class RetriableError(CaesuraError):
    """Try again later."""


class StoreError(RetriableError):
    """The session store did not answer, or answered with an error."""


class ForeignStateError(StoreError):
    """What is stored under our key is of a kind that we never write: trying again would not help."""


class BrokerError(RetriableError):
    """Kafka did not answer in time, or cannot serve the request now."""


class UnprovenOffsetError(BrokerError):
    """A committed offset was told by one who could not show that it counts (ADR 0047)."""


class EngineError(RetriableError):
    """An inference failed."""


class AbortableError(CaesuraError):
    """The running transaction must be aborted."""


class ContentRefusedError(AbortableError):
    """A broker refused what a record holds: it is too large, or invalid. The only failure that blames a record.

    topic, partition, value: of the record, or of the first one in its batch. in_batch: it was perhaps not sent alone,
    so another one of its batch may be to blame, or none; the next transaction sends each record alone.
    """

    def __init__(self, text: str, *, topic: str, partition: int, value: bytes | None, in_batch: bool = False) -> None:
        super().__init__(text)
        self.in_batch = in_batch
        self.topic = topic
        self.partition = partition
        self.value = value


class OwnFaultError(CaesuraError):
    """Our own code raised something that it never raises on purpose. record: the input offset that it was applying."""

    def __init__(self, text: str, *, partition: int, record: int | None = None) -> None:
        super().__init__(text)
        self.partition = partition
        self.record = record


class OutcomeUnknownError(CaesuraError):
    """It is unknown whether the transaction committed; reading the committed id back tells it."""


class FencedError(CaesuraError):
    """A newer owner exists; nothing more may be written."""


class BadEventError(CaesuraError):
    """An input event that can never be applied.

    reason: what stands in the dead letter's header and in the metric.
    detail: names the field and what was wrong with it, never a word's text.
    """

    def __init__(self, reason: DeadLetterReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class ArgumentError(CaesuraError, ValueError):
    """A caller of the library gave a value that cannot be."""


class FatalError(CaesuraError):
    """The process cannot go on; each argument is a line that says what to fix."""
