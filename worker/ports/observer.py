"""Events of the runtime, given to one method. No word's text ever passes here.

Telemetry turns them into log lines, metrics and health (``observer``); tests read some of them. Events of checkpoints
are in ``commit_steps``, those of the service in ``service_events``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.worker.errors import AwaitedBroker, CaesuraError, StoreError
from caesura.worker.ports.reasons import (
    CalledPart,
    CheckpointOutcome,
    ClaimVerdict,
    ClaimWaitReason,
    ParkReason,
    PhaseName,
    RebalanceKind,
    SaveOutcome,
)


class Event:
    """Something that an operator may want to see."""

    __slots__ = ()


class Observer(Protocol):
    """Must neither block nor raise, but in tests that crash the worker.

    A worker's is told of everything by the loop's thread. A service's is told of clients by the event loop and of
    labelling by the thread that decodes, at the same time.
    """

    def note(self, event: Event) -> None:
        """Take note of an event; an unknown kind is passed over."""
        ...


class SilentObserver(Observer):
    """Hears everything and says nothing."""

    @override
    def note(self, event: Event) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopMoved(Event):
    """The loop turned once more: liveness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessReported(Event):
    """Why this worker should not count as ready; none: it should. awaits: the broker that its checkpoints wait for."""

    reasons: Sequence[str]
    awaits: AwaitedBroker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalanced(Event):
    """Partitions that the group assigned, revoked, or took away unasked."""

    kind: RebalanceKind
    partitions: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEntered(Event):
    """A held partition that is in another phase now, or in the same one anew."""

    partition: int
    phase: PhaseName


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimWaits(Event):
    """A partition that cannot be claimed yet, or must be claimed again. detail: the text of the error, if any."""

    partition: int
    reason: CheckpointOutcome | ClaimWaitReason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionClaimed(Event):
    """A partition whose sessions are loaded."""

    partition: int
    verdict: ClaimVerdict
    sessions: int
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildSummary:
    """What a rebuild read and lost.

    lost_sessions, lost_words: of the ledger's sessions, what the input does not hold any more (retention).
    lost_offsets: the stretch of the input, first and next, that was to be read and is gone; empty where both are equal.
    """

    sessions: int
    ledger_records: int
    input_records: int
    lost_sessions: int
    lost_words: int
    lost_offsets: tuple[int, int] = (0, 0)

    @property
    def lost_records(self) -> int:
        """How many offsets of the input were to be read and are gone."""
        first, following = self.lost_offsets
        return following - first


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRebuilt(Event):
    """A partition whose sessions were made again from the log."""

    partition: int
    summary: RebuildSummary
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCaughtUp(Event):
    """A partition whose stored sessions were older than what is committed, and were brought there by the log."""

    partition: int
    summary: RebuildSummary
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionParked(Event):
    """A partition that waits for an operator; ``detail`` is our own text, and says what to do."""

    partition: int
    reason: ParkReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLetGo(Event):
    """A partition that is no longer held: another worker reports it now."""

    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TookOver(Event):
    """A dead peer's transaction that was ended, because a claim had waited for it long enough."""

    partition: int
    transactional_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionMeasured(Event):
    """How far a partition is read, and how old its oldest unread word is.

    end_offset: open transactions included. held_ms: for how long one has been seen open; 0: none is.
    """

    partition: int
    next_offset: int
    end_offset: int
    oldest_unread_ms: int
    held_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsCounted(Event):
    """How many sessions a partition has in memory, by status."""

    partition: int
    by_status: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRefused(Event):
    """A dead letter."""

    partition: int
    offset: int
    reason: DeadLetterReason


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRepeated(Event):
    """A repeated event dropped."""

    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchQueued(Event):
    """How long the oldest session of a batch waited for it."""

    oldest_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLabelled(Event):
    """One batch through the engine.

    words: of all its buffers. layer_rows, begun_buffers, evicted_sessions, cpu_s: what the engine did for it;
    kept_bytes, resident_bytes: what it has now (``caesura.worker.ports.engine.EngineWork``).
    """

    sessions: int
    words: int
    took_s: float
    layer_rows: int = 0
    begun_buffers: int = 0
    evicted_sessions: int = 0
    kept_bytes: int = 0
    cpu_s: float = 0.0
    resident_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRestarted(Event):
    """The engine's process ended, or stood still, and another one was started."""

    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFailed(Event):
    """A batch that the engine refused. detail: the text of the error, which is ours."""

    sessions: int
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsFlooding(Event):
    """Which sessions flood as of this turn and did not before, perhaps none, and how many words of theirs wait."""

    queued_words: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavesBehind(Event):
    """A save to Redis ended. behind_s: for how long now something is committed that is not known to be saved."""

    partition: int
    outcome: SaveOutcome
    behind_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed(Event):
    """A call that failed and is tried again. part: whom it went to. error: the kind of error, and detail its text."""

    part: CalledPart
    call: str
    error: str
    detail: str = ""

    @classmethod
    def of(cls, call: str, error: CaesuraError, part: CalledPart | None = None) -> CallFailed:
        """Return what is told of a call that raised this; part: None where the error's kind names it.

        Its text is ours and names nothing that was said.
        """
        if part is None:
            part = CalledPart.STORE if isinstance(error, StoreError) else CalledPart.BROKER
        return cls(part=part, call=call, error=type(error).__name__, detail=str(error))
