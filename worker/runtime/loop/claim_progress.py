"""Takes partitions from claiming to loaded, a piece of work at a time, so that loaded partitions are not held up.

A turn of the loop starts pieces until ``_PIECES_S`` is over. The next turn goes on with the next partition.

Only one partition is rebuilt at a time, because several rebuilds in a turn would keep the loop from polling for too
long. If our own code raises, the partition parks, because the same claim would raise again.
"""

from __future__ import annotations

from collections.abc import Callable

from caesura.worker.errors import OwnFaultError, RetriableError
from caesura.worker.ports.observer import ClaimWaits, PartitionClaimed
from caesura.worker.ports.reasons import ClaimWaitReason, ParkReason
from caesura.worker.runtime.claim.adoption import Adoption
from caesura.worker.runtime.claim.load_run import LoadRun
from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.loop.phases import (
    ClaimAttempt,
    Claiming,
    Coming,
    Loaded,
    PhaseEvent,
    Phases,
    Rebuilding,
)
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.own_faults import blamed
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.settings.parts import RuntimeAdapters

_LONGEST_WAIT_S = 2.0
_PIECES_S = 0.05


class ClaimProgress:
    """load: makes sessions from a claim's result, or a rebuild."""

    def __init__(
        self,
        phases: Phases,
        parts: RuntimeAdapters,
        *,
        load: Callable[[ClaimResult], LoadRun | Rebuild | Adoption],
        park: Callable[[Parked], None],
    ) -> None:
        self._phases = phases
        self._source = parts.source
        self._clock = parts.clock
        self._observer = parts.observer
        self._load = load
        self._park = park
        self._last = -1

    @property
    def rebuilding(self) -> bool:
        """Tell whether a partition is being rebuilt and its next chunk can be done at once."""
        return self._next_rebuilt() is not None

    @property
    def busy(self) -> bool:
        """Tell whether a partition can go on at once, with its rebuild or with its stored sessions."""
        attempts = (one.attempt for one in self._phases.coming.values())
        return self.rebuilding or any(one.claim.reads or one.loading is not None for one in attempts)

    def advance(self) -> RetriableError | None:
        """Try the claims that are due. Return the first fault; the other claims then wait for the next turn.

        A claim may block for its time-out, so at most one fails a turn.
        """
        began_s = self._clock.monotonic_s()
        for partition in self._in_turn():
            if self._clock.monotonic_s() - began_s > _PIECES_S:
                break
            self._last = partition
            attempt = self._phases.coming[partition].attempt
            if attempt.not_before_s > self._clock.monotonic_s():
                continue
            try:
                reached = blamed(partition, self._advance, partition, self._phases.coming[partition])
                if isinstance(reached, LoadedPartition):
                    self._go_live(partition, attempt, reached)
            except RetriableError as error:
                self._failed(partition, attempt, error)
                return error
            except OwnFaultError as error:
                detail = f"{error}; see docs/operations.md"
                reached = Parked(partition=partition, reason=ParkReason.REBUILD_FAILS, detail=detail)
            if isinstance(reached, Parked):
                self._park(reached)
        return None

    def _advance(self, partition: int, phase: Coming) -> LoadedPartition | Parked | None:
        """Do one step towards loaded; None: the next turn goes on."""
        if isinstance(phase, Claiming):
            reached = self._claim(phase.attempt)
            if reached is None or isinstance(reached, LoadedPartition | Parked):
                return reached
            phase = Rebuilding(phase.attempt, reached)
            self._phases.move(partition, PhaseEvent.SESSIONS_LOST, phase)
        return phase.run.advance() if phase is self._next_rebuilt() else None

    def _claim(self, attempt: ClaimAttempt) -> LoadedPartition | Parked | Rebuild | Adoption | None:
        """Go on with the claim, or with making its sessions."""
        if attempt.loading is None:
            outcome = attempt.claim.advance()
            if outcome is None or isinstance(outcome, Parked):
                return outcome
            loaded = self._load(outcome)
            if not isinstance(loaded, LoadRun):
                return loaded
            attempt.loading = loaded
        reached = attempt.loading.advance()
        if reached is not None:
            attempt.loading = None
        return reached

    def _in_turn(self) -> list[int]:
        coming = sorted(self._phases.coming)
        return [one for one in coming if one > self._last] + [one for one in coming if one <= self._last]

    def _failed(self, partition: int, attempt: ClaimAttempt, error: RetriableError) -> None:
        if isinstance(self._phases.coming[partition], Rebuilding):
            self._phases.move(partition, PhaseEvent.FAULT, Claiming(attempt))
        attempt.loading = None
        attempt.not_before_s = self._clock.monotonic_s() + attempt.wait_s
        attempt.wait_s = min(attempt.wait_s * 2.0, _LONGEST_WAIT_S)
        self._observer.note(ClaimWaits(partition=partition, reason=ClaimWaitReason.of_fault(error), detail=str(error)))

    def _go_live(self, partition: int, attempt: ClaimAttempt, reached: LoadedPartition) -> None:
        """Resume reading the partition. BrokerError if that fails; the partition is then claimed again."""
        self._source.seek(partition, reached.next_offset, reached.position.leader_epoch)
        self._source.resume([partition])
        self._phases.move(partition, PhaseEvent.READY, Loaded(reached))
        took_s = self._clock.monotonic_s() - attempt.since_s
        self._observer.note(
            PartitionClaimed(
                partition=partition, verdict=reached.verdict, sessions=len(reached.sessions), took_s=took_s
            )
        )

    def _next_rebuilt(self) -> Rebuilding | None:
        """Return the partition whose rebuild goes on now."""
        rebuilds = (one for one in self._phases.coming.values() if isinstance(one, Rebuilding))
        return min(rebuilds, key=lambda one: one.attempt.number, default=None)
