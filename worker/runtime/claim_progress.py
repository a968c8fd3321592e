"""Takes partitions from claiming to loaded, a short piece a turn, so that those that are loaded go on.

One partition is rebuilt after another: a rebuild's step may block until a transaction has ended, and a turn that holds
several of them would keep the loop from polling for too long.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.errors import RetriableError
from worker.ports.observer import ClaimWaits, PartitionClaimed
from worker.runtime.adoption import Adoption
from worker.runtime.claim import ClaimedState
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.parking import Parked
from worker.runtime.parts import RuntimeParts
from worker.runtime.phases import (
    AwaitingTurn,
    ClaimAttempt,
    Claiming,
    Coming,
    Loaded,
    PhaseEvent,
    Phases,
    Rebuilding,
)
from worker.runtime.rebuild_run import RebuildRun

__all__ = ["ClaimProgress"]

_LONGEST_WAIT_S = 2.0
_TURN_S = 10.0


class ClaimProgress:
    """load: makes sessions of what a claim hands over, or says how they come back from the log."""

    def __init__(
        self,
        phases: Phases,
        parts: RuntimeParts,
        *,
        load: Callable[[ClaimedState], LoadedPartition | RebuildRun | Adoption],
        park: Callable[[Parked], None],
    ) -> None:
        self._phases = phases
        self._source = parts.source
        self._clock = parts.clock
        self._observer = parts.observer
        self._load = load
        self._park = park

    @property
    def rebuilding(self) -> bool:
        """Tell whether a partition is on its way back from the log, and the next chunk of it can be done at once."""
        return self._next_rebuilt() is not None

    def advance(self) -> RetriableError | None:
        """Try the claims that are due. Returns the first fault met; the rest waits for the next turn then.

        A claim may block for its time-out, so at most one fails a turn.
        """
        for partition in sorted(self._phases.coming):
            attempt = self._phases.coming[partition].attempt
            if attempt.not_before_s > self._clock.monotonic_s():
                continue
            try:
                reached = self._advance(partition, self._phases.coming[partition])
                if isinstance(reached, LoadedPartition):
                    if self._must_wait(partition, reached):
                        continue
                    self._source.seek(partition, reached.next_offset)
            except RetriableError as error:
                self._failed(partition, attempt, error)
                return error
            if isinstance(reached, Parked):
                self._park(reached)
            elif reached is not None:
                self._go_live(partition, attempt, reached)
        return None

    def _advance(self, partition: int, phase: Coming) -> LoadedPartition | Parked | None:
        """Go one step on the way to loaded; None: there is more to do at the next turn."""
        if isinstance(phase, AwaitingTurn):
            return phase.ready
        if isinstance(phase, Claiming):
            outcome = phase.attempt.claim.advance()
            if isinstance(outcome, Parked):
                return outcome
            loaded = self._load(outcome)
            if isinstance(loaded, LoadedPartition):
                return loaded
            phase = Rebuilding(phase.attempt, loaded)
            self._phases.move(partition, PhaseEvent.SESSIONS_LOST, phase)
        return phase.run.advance() if phase is self._next_rebuilt() else None

    def _failed(self, partition: int, attempt: ClaimAttempt, error: RetriableError) -> None:
        phase = self._phases.coming[partition]
        if isinstance(phase, Rebuilding):
            if phase.run.announced:
                attempt.claim.uncount()  # what was tried is not at fault where the log could not be read
            self._phases.move(partition, PhaseEvent.FAULT, Claiming(attempt))
        attempt.not_before_s = self._clock.monotonic_s() + attempt.wait_s
        attempt.wait_s = min(attempt.wait_s * 2.0, _LONGEST_WAIT_S)
        self._observer.note(ClaimWaits(partition=partition, reason=type(error).__name__))

    def _go_live(self, partition: int, attempt: ClaimAttempt, reached: LoadedPartition) -> None:
        if attempt.released:
            reached.forgive()
        self._phases.move(partition, PhaseEvent.READY, Loaded(reached))
        self._source.resume([partition])
        took_s = self._clock.monotonic_s() - attempt.since_s
        self._observer.note(
            PartitionClaimed(
                partition=partition, verdict=reached.verdict, sessions=reached.session_count, took_s=took_s
            )
        )

    def _next_rebuilt(self) -> Rebuilding | None:
        """Return whose rebuild goes on now; one that has to announce itself waits until the one before is committed."""
        first = min(self._rebuilds, key=lambda one: one.attempt.number, default=None)
        if first is None:
            return None
        waits = first.run.announces and any(one.unproven for one in self._phases.loaded.values())
        return None if waits else first

    @property
    def _rebuilds(self) -> list[Rebuilding]:
        return [one for one in self._phases.coming.values() if isinstance(one, Rebuilding)]

    def _must_wait(self, partition: int, reached: LoadedPartition) -> bool:
        """Hold a partition back that tries a step again, while another one of this worker does: they take turns.

        A step that kills the process or aborts the transaction is counted against all that are tried at once. A turn
        ends when its step has committed, and after some time, for it may be a timer that is not due for long.
        """
        # Whatever ended the process would be counted against a rebuild that was announced, too.
        announced = any(one.run.announced for one in self._rebuilds)
        if not reached.suspects or not (announced or any(one.suspects for one in self._phases.loaded.values())):
            return False
        phase = self._phases.coming[partition]
        if not isinstance(phase, AwaitingTurn):
            phase = AwaitingTurn(phase.attempt, reached, self._clock.monotonic_s())
            self._phases.move(partition, PhaseEvent.STEP_SUSPECTED, phase)
            self._observer.note(ClaimWaits(partition=partition, reason="turn"))
        return self._clock.monotonic_s() - phase.since_s < _TURN_S
