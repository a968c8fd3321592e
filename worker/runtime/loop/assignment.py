"""The partitions that this worker holds, and each one's move to its next phase (``phases``).

Rebalance callbacks only record what happened; the loop starts the claims. No transaction is open while the consumer
polls, so a revoke has nothing to finish. Staged data that was not committed is dropped; the next owner stages it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from typing_extensions import override

from caesura.worker.errors import ContentRefusedError, OwnFaultError, RetriableError
from caesura.worker.ports.observer import CallFailed, ClaimWaits, PartitionLetGo, PartitionParked, Rebalanced
from caesura.worker.ports.reasons import CheckpointOutcome, ClaimWaitReason, ParkReason, RebalanceKind
from caesura.worker.ports.word_source import RebalanceListener
from caesura.worker.runtime.checkpoint.staged_checkpoint import StagedCheckpoint
from caesura.worker.runtime.claim.adoption import Adoption
from caesura.worker.runtime.claim.claim import Claim
from caesura.worker.runtime.claim.load_run import LoadRun
from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.loop.claim_progress import ClaimProgress
from caesura.worker.runtime.loop.phases import (
    ClaimAttempt,
    Claiming,
    Loaded,
    Phase,
    PhaseEvent,
    Phases,
    Rebuilding,
)
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.retries.step_search import StepSearch
from caesura.worker.runtime.settings.parts import RuntimeAdapters

_FIRST_WAIT_S = 0.05
_AFTER_FENCE_S = 0.5
_SAVED_WITHIN_S = 2.0
"""How long a rebalance waits for saves: well below what the group gives a member for it."""

_CLAIMED_WITHIN_S = 0.5
"""How long a partition that is to be claimed again waits for its save: a claim that finds it saved is quick."""
_PAUSING = (PhaseEvent.CLAIM_AGAIN, PhaseEvent.OPERATOR_NEEDED, PhaseEvent.RELEASED)


class Assignment(RebalanceListener):
    """The rebalance listener, and the phases of the held partitions."""

    def __init__(
        self,
        parts: RuntimeAdapters,
        *,
        new_claim: Callable[[int], Claim],
        load: Callable[[ClaimResult, StepSearch], LoadRun | Rebuild | Adoption],
    ) -> None:
        self._source = parts.source
        self._clock = parts.clock
        self._observer = parts.observer
        self._new_claim = new_claim
        self._phases = Phases(parts.observer)
        self._searches: dict[int, StepSearch] = {}
        self._progress = ClaimProgress(
            self._phases, parts, load=lambda claimed: load(claimed, self._search_of(claimed.partition)), park=self.park
        )
        self._claims = 0

    @property
    def loaded(self) -> dict[int, LoadedPartition]:
        """Partitions that take records; do not change."""
        return self._phases.loaded

    @property
    def parked(self) -> dict[int, Parked]:
        """Partitions that wait for an operator; do not change."""
        return self._phases.parked

    @property
    def claiming(self) -> list[int]:
        """Partitions on their way to be loaded."""
        return sorted(self._phases.coming)

    @property
    def rebuilding(self) -> bool:
        """Tell whether a partition is being rebuilt and its next chunk can be done at once."""
        return self._progress.rebuilding

    @property
    def busy(self) -> bool:
        """Tell whether a claim can go on at once, so that the next poll should not wait."""
        return self._progress.busy

    def holds(self, partition: int) -> bool:
        """Tell whether the partition is assigned to this worker, in whatever phase."""
        return partition in self._phases

    def is_held(self, partition: int, nonce: str) -> bool:
        """Tell whether the partition is loaded, by the claim of this nonce."""
        loaded = self.loaded.get(partition)
        return loaded is not None and loaded.nonce == nonce

    @override
    def on_assigned(self, partitions: Sequence[int]) -> None:
        """Note partitions to claim."""
        for partition in partitions:
            self._claim(partition, PhaseEvent.ASSIGNED)
        self._observer.note(Rebalanced(kind=RebalanceKind.ASSIGNED, partitions=partitions))

    @override
    def on_revoked(self, partitions: Sequence[int]) -> None:
        """Drop partitions that move to another member.

        First save what is committed, up to a limit, so that the next owner can load it.
        """
        try:
            self.finish_saves(partitions, within_s=_SAVED_WITHIN_S)
        finally:
            self._drop(partitions, RebalanceKind.REVOKED)

    @override
    def on_lost(self, partitions: Sequence[int]) -> None:
        """Drop partitions that another member may hold already."""
        self._drop(partitions, RebalanceKind.LOST)

    def finish_saves(self, partitions: Collection[int], *, within_s: float = _CLAIMED_WITHIN_S) -> None:
        """Save what is committed of these partitions, as far as Redis answers within this time."""
        until_s = self._clock.monotonic_s() + within_s
        for partition in partitions:
            if partition in self.loaded:
                self.loaded[partition].finish_saves(until_s)

    def claim_again(
        self,
        partition: int,
        reason: CheckpointOutcome | ClaimWaitReason,
        *,
        after_s: float = 0.0,
        detail: str = "",
    ) -> None:
        """Drop the memory of a loaded partition and claim it anew; ignore one that is not loaded.

        after_s: how long the claim waits.
        """
        if partition not in self.loaded:
            return
        # Where somebody newer stands in the way, the group may have news: hear it first, for a claim would fence them.
        self._claim(partition, PhaseEvent.CLAIM_AGAIN, after_s=_AFTER_FENCE_S if reason.fenced else after_s)
        self._observer.note(ClaimWaits(partition=partition, reason=reason, detail=detail))

    def refused(self, error: ContentRefusedError, staged: Sequence[StagedCheckpoint]) -> None:
        """Claim the partition again, or park it, of whose staged checkpoint a broker refused a record."""
        for one in staged:
            if one.partition == error.partition and one.partition in self.loaded:
                parks = self.loaded[one.partition].refused(error, one)
                self._blame(one.partition, CheckpointOutcome.CONTENT_REFUSED, parks, str(error))

    def raised(self, error: OwnFaultError) -> None:
        """Claim the partition again, or park it, after our own code raised for it."""
        if error.partition in self.loaded:
            self.finish_saves([error.partition])
            parks = self.loaded[error.partition].raised(error)
            self._blame(error.partition, ClaimWaitReason.OWN_FAULT, parks, str(error))

    def _blame(
        self, partition: int, reason: CheckpointOutcome | ClaimWaitReason, parks: ParkReason | None, detail: str
    ) -> None:
        if parks is None:
            self.claim_again(partition, reason, detail=detail)
        else:
            self.park(Parked(partition=partition, reason=parks, detail=f"{detail}; see docs/operations.md"))

    def _search_of(self, partition: int) -> StepSearch:
        return self._searches.setdefault(partition, StepSearch())

    def park(self, parked: Parked) -> None:
        """Pause a held partition until an operator releases it; membership is kept."""
        if not self.holds(parked.partition):
            return
        self._move(parked.partition, PhaseEvent.OPERATOR_NEEDED, parked)
        self._observer.note(PartitionParked(partition=parked.partition, reason=parked.reason, detail=parked.detail))

    def unpark(self, partition: int) -> None:
        """Claim a parked partition again."""
        if partition in self.parked:
            self._searches.pop(partition, None)
            self._claim(partition, PhaseEvent.RELEASED)
            self._observer.note(ClaimWaits(partition=partition, reason=ClaimWaitReason.UNPARKED))

    def advance_claims(self) -> RetriableError | None:
        """Try the claims that are due. Return the first fault; the other claims then wait for the next turn."""
        return self._progress.advance()

    def _claim(self, partition: int, event: PhaseEvent, *, after_s: float = 0.0) -> None:
        now_s = self._clock.monotonic_s()
        self._claims += 1
        attempt = ClaimAttempt(
            number=self._claims,
            claim=self._new_claim(partition),
            since_s=now_s,
            not_before_s=now_s + after_s,
            wait_s=_FIRST_WAIT_S,
        )
        self._move(partition, event, Claiming(attempt))

    def _drop(self, partitions: Sequence[int], kind: RebalanceKind) -> None:
        for partition in partitions:
            if self.holds(partition):
                self._move(partition, PhaseEvent.LET_GO, None)
            self._searches.pop(partition, None)
            self._observer.note(PartitionLetGo(partition=partition))
        self._observer.note(Rebalanced(kind=kind, partitions=partitions))

    def _move(self, partition: int, event: PhaseEvent, after: Phase | None) -> None:
        before = self._phases.move(partition, event, after)
        if isinstance(before, Loaded):
            before.partition.let_go()
        elif isinstance(before, Rebuilding):
            before.run.let_go()
        if event in _PAUSING:
            self._pause(partition)

    def _pause(self, partition: int) -> None:
        """Stop the delivery of a partition's records. If that fails, records are only read in vain.

        Records of a partition that is not loaded are dropped, and it is sought to its offset before it is loaded.
        """
        try:
            self._source.pause([partition])
        except RetriableError as error:
            self._observer.note(CallFailed.of("pause", error))
