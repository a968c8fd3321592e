"""The phases of a partition that a worker holds, and the transitions between them.

A phase is a value with its own data. ``TRANSITIONS`` is the whole table, and ``Phases`` refuses any other transition.
``python -m caesura.worker.runtime.loop.phase_table`` writes the table into docs/exactly-once.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from caesura.worker.errors import FatalError
from caesura.worker.ports.observer import Observer, PhaseEntered
from caesura.worker.ports.reasons import PhaseName
from caesura.worker.runtime.claim.adoption import Adoption
from caesura.worker.runtime.claim.claim import Claim
from caesura.worker.runtime.claim.load_run import LoadRun
from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.parking import Parked


class IllegalTransitionError(FatalError):
    """A transition that is not in the table: a fault of ours."""


@dataclass(slots=True, kw_only=True)
class ClaimAttempt:
    """One claim of a partition, through all phases before it is loaded.

    number: counts the worker's claims; the lowest goes first. since_s, not_before_s: monotonic clock. wait_s: how long
    to wait after the next fault. loading: makes sessions from the claim's result.
    """

    number: int
    claim: Claim
    since_s: float
    not_before_s: float
    wait_s: float
    loading: LoadRun | None = None


@dataclass(frozen=True, slots=True)
class Claiming:
    """Its committed id is read, its stored sessions are loaded; tried again after a fault."""

    attempt: ClaimAttempt


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """Its sessions come back from the log, or its ledger is read because its offset was set from outside."""

    attempt: ClaimAttempt
    run: Rebuild | Adoption


@dataclass(frozen=True, slots=True)
class Loaded:
    """It takes records, fires timers, and is part of checkpoints."""

    partition: LoadedPartition


Coming: TypeAlias = Claiming | Rebuilding
Phase: TypeAlias = Claiming | Rebuilding | Loaded | Parked


PHASE_NAMES: Final[Mapping[type[Phase], PhaseName]] = {
    Claiming: PhaseName.CLAIMING,
    Rebuilding: PhaseName.REBUILDING,
    Loaded: PhaseName.LOADED,
    Parked: PhaseName.PARKED,
}


class PhaseEvent(StrEnum):
    """An event that takes a partition from one phase to the next."""

    ASSIGNED = "assigned"
    SESSIONS_LOST = "sessions lost"
    FAULT = "fault"
    READY = "ready"
    CLAIM_AGAIN = "claim again"
    OPERATOR_NEEDED = "operator needed"
    RELEASED = "released"
    LET_GO = "let go"


@dataclass(frozen=True, slots=True)
class Transition:
    """One line of the table; None is a partition that is not held."""

    before: type[Phase] | None
    event: PhaseEvent
    after: type[Phase] | None
    means: str


TRANSITIONS: tuple[Transition, ...] = (
    Transition(None, PhaseEvent.ASSIGNED, Claiming, "the group assigned it"),
    Transition(
        Claiming,
        PhaseEvent.SESSIONS_LOST,
        Rebuilding,
        "Redis does not hold the committed state, or the offset is adopted",
    ),
    Transition(Claiming, PhaseEvent.READY, Loaded, "all its sessions are in memory"),
    Transition(Claiming, PhaseEvent.OPERATOR_NEEDED, Parked, "the claim cannot continue from the committed offset"),
    Transition(Rebuilding, PhaseEvent.READY, Loaded, "all its sessions are in memory, but not yet saved to Redis"),
    Transition(Rebuilding, PhaseEvent.FAULT, Claiming, "a call failed: the same claim begins again"),
    Transition(
        Rebuilding,
        PhaseEvent.OPERATOR_NEEDED,
        Parked,
        "the ledger or the input needs a repair or a newer release, or our code raises an error",
    ),
    Transition(Loaded, PhaseEvent.CLAIM_AGAIN, Claiming, "its checkpoint may not have committed, or a call failed"),
    Transition(Loaded, PhaseEvent.OPERATOR_NEEDED, Parked, "a fault that only an operator can end"),
    Transition(Parked, PhaseEvent.RELEASED, Claiming, "`caesura unpark`"),
    *(
        Transition(held, PhaseEvent.ASSIGNED, Claiming, "the group assigned it anew")
        for held in (Claiming, Rebuilding, Loaded, Parked)
    ),
    *(Transition(held, PhaseEvent.LET_GO, None, "revoked or lost") for held in (Claiming, Rebuilding, Loaded, Parked)),
)
_AFTER: Mapping[tuple[type[Phase] | None, PhaseEvent], type[Phase] | None] = {
    (one.before, one.event): one.after for one in TRANSITIONS
}


class Phases:
    """The phase of each held partition. loaded, parked, coming: the partitions by phase, as of the last move."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._phases: dict[int, Phase] = {}
        self.loaded: dict[int, LoadedPartition] = {}
        self.parked: dict[int, Parked] = {}
        self.coming: dict[int, Coming] = {}

    def __contains__(self, partition: int) -> bool:
        """Tell whether the partition is held, in any phase."""
        return partition in self._phases

    def move(self, partition: int, event: PhaseEvent, after: Phase | None) -> Phase | None:
        """Take a partition to its next phase, and return the one before. IllegalTransitionError."""
        before = self._phases.pop(partition, None)
        way = (None if before is None else type(before), event)
        if way not in _AFTER or _AFTER[way] is not (None if after is None else type(after)):
            raise IllegalTransitionError(f"partition {partition}: {event} takes {before} not to {after}")
        if after is not None:
            self._phases[partition] = after
        self._view()
        if after is not None:
            self._observer.note(PhaseEntered(partition=partition, phase=PHASE_NAMES[type(after)]))
        return before

    def _view(self) -> None:
        held = self._phases.items()
        self.loaded = {number: one.partition for number, one in held if isinstance(one, Loaded)}
        self.parked = {number: one for number, one in held if isinstance(one, Parked)}
        self.coming = {number: one for number, one in held if isinstance(one, Claiming | Rebuilding)}
