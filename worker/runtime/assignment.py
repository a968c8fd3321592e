"""Which partitions this worker holds, and how far each has come: claiming, loaded, or parked.

Rebalance callbacks only take note; the loop claims. No transaction is ever open while the group is polled, so a revoke
or a loss has nothing to finish: what was staged and not committed is dropped, and the next owner stages it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from worker.errors import RetriableError
from worker.ports.clock import Clock
from worker.ports.observer import ClaimWaits, Observer, PartitionClaimed, PartitionLetGo, PartitionParked, Rebalanced
from worker.ports.reasons import CheckpointOutcome, ParkReason
from worker.ports.word_source import WordSource
from worker.runtime.adoption import Adoption
from worker.runtime.claim import Claim, ClaimedState, Parked
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.partition_loader import Rebuilding

__all__ = ["Assignment"]

_FIRST_WAIT_S = 0.05
_LONGEST_WAIT_S = 2.0
_AFTER_FENCE_S = 0.5
_TURN_S = 10.0
_MOST_REFUSALS = 20


@dataclass(slots=True)
class _Pending:
    claim: Claim
    rebuilding: Rebuilding | Adoption | None
    since_s: float
    not_before_s: float
    wait_s: float = _FIRST_WAIT_S
    released: bool = False
    ready: LoadedPartition | None = None
    ready_since_s: float = 0.0


class Assignment:
    """The rebalance listener, and the phases of what is held."""

    def __init__(
        self,
        *,
        source: WordSource,
        clock: Clock,
        observer: Observer,
        new_claim: Callable[[int], Claim],
        load: Callable[[ClaimedState], LoadedPartition | Rebuilding | Adoption],
    ) -> None:
        self._source = source
        self._clock = clock
        self._observer = observer
        self._new_claim = new_claim
        self._load = load
        self._claiming: dict[int, _Pending] = {}
        self._parked: dict[int, Parked] = {}
        self._refusals: Counter[int] = Counter()
        self.loaded: dict[int, LoadedPartition] = {}

    @property
    def parked(self) -> dict[int, Parked]:
        """Partitions that wait for an operator."""
        return self._parked

    @property
    def claiming(self) -> list[int]:
        """Partitions on their way to be loaded."""
        return sorted(self._claiming)

    @property
    def rebuilding(self) -> bool:
        """Tell whether a partition is on its way back from the log, and the next chunk of it can be done at once."""
        return self._next_rebuilt() is not None

    def holds(self, partition: int) -> bool:
        """Tell whether the partition is assigned to this worker, in whatever phase."""
        return partition in self._claiming or partition in self.loaded or partition in self._parked

    def on_assigned(self, partitions: Sequence[int]) -> None:
        """Note partitions to claim."""
        for partition in partitions:
            self._refusals.pop(partition, None)
            self._forget(partition)
            self._want(partition)
        self._observer.note(Rebalanced(kind="assigned", partitions=partitions))

    def on_revoked(self, partitions: Sequence[int]) -> None:
        """Drop partitions that go to another member."""
        self._drop(partitions, "revoked")

    def on_lost(self, partitions: Sequence[int]) -> None:
        """Drop partitions that another member may hold already."""
        self._drop(partitions, "lost")

    def claim_again(self, partition: int, reason: str) -> None:
        """Throw the memory of a held partition away and claim it anew."""
        if not self.holds(partition):
            return
        if self._refused_too_often(partition, reason):
            return
        self._forget(partition)
        self._source.pause([partition])
        # Where somebody newer stands in the way, the group may have news: hear it first, for a claim would fence them.
        self._want(
            partition, after_s=_AFTER_FENCE_S if isinstance(reason, CheckpointOutcome) and reason.fenced else 0.0
        )
        if isinstance(reason, CheckpointOutcome) and reason.blames_no_step:
            self._claiming[partition].claim.uncount()
        self._observer.note(ClaimWaits(partition=partition, reason=reason))

    def went_well(self, partition: int) -> None:
        """Note that a checkpoint of the partition has committed."""
        self._refusals.pop(partition, None)

    def _refused_too_often(self, partition: int, reason: str) -> bool:
        """Count saves that Redis refuses in a row; where they are too many, park the partition."""
        if reason != CheckpointOutcome.SAVE_REFUSED:
            return False
        self._refusals[partition] += 1
        if self._refusals[partition] < _MOST_REFUSALS:
            return False
        detail = f"{_MOST_REFUSALS} saves in a row were refused: somebody else writes to its hash in Redis"
        self.park(Parked(partition=partition, reason=ParkReason.SAVES_REFUSED, detail=detail))
        return True

    def park(self, parked: Parked) -> None:
        """Pause a held partition until an operator releases it; membership is kept."""
        if not self.holds(parked.partition):
            return
        self._forget(parked.partition)
        self._source.pause([parked.partition])
        self._parked[parked.partition] = parked
        self._observer.note(PartitionParked(partition=parked.partition, reason=parked.reason, detail=parked.detail))

    def unpark(self, partition: int) -> None:
        """Claim a parked partition again."""
        if partition in self._parked:
            self.claim_again(partition, "unparked")
            self._claiming[partition].released = True
            self._claiming[partition].claim.forgive()

    def advance_claims(self) -> RetriableError | None:
        """Try the claims that are due. Returns the first fault met; the rest waits for the next turn then.

        A claim may block for its time-out, so at most one fails a turn: partitions that are loaded go on.
        """
        for partition in sorted(self._claiming):
            pending = self._claiming[partition]
            if pending.not_before_s > self._clock.monotonic_s():
                continue
            try:
                reached = self._advance(pending)
                if isinstance(reached, LoadedPartition):
                    if self._must_wait(pending, reached):
                        continue
                    self._source.seek(partition, reached.next_offset)
            except RetriableError as error:
                if pending.rebuilding is not None and pending.rebuilding.announced:
                    pending.claim.uncount()  # what was tried is not at fault where the log could not be read
                pending.rebuilding = None
                pending.not_before_s = self._clock.monotonic_s() + pending.wait_s
                pending.wait_s = min(pending.wait_s * 2.0, _LONGEST_WAIT_S)
                self._observer.note(ClaimWaits(partition=partition, reason=type(error).__name__))
                return error
            if isinstance(reached, Parked):
                self.park(reached)
            elif reached is not None:
                del self._claiming[partition]
                if pending.released:
                    reached.forgive()
                self.loaded[partition] = reached
                self._source.resume([partition])
                took_s = self._clock.monotonic_s() - pending.since_s
                self._observer.note(
                    PartitionClaimed(
                        partition=partition, verdict=reached.verdict, sessions=reached.session_count, took_s=took_s
                    )
                )
        return None

    def _advance(self, pending: _Pending) -> LoadedPartition | Parked | None:
        """Go one step on the way to loaded; None: there is more to do at the next turn.

        One partition is rebuilt after another: a rebuild's step may block until a transaction has ended, and a turn
        that holds several of them would keep the loop from polling for too long.
        """
        if pending.ready is not None:
            return pending.ready
        if pending.rebuilding is None:
            outcome = pending.claim.advance()
            if isinstance(outcome, Parked):
                return outcome
            loaded = self._load(outcome)
            if isinstance(loaded, LoadedPartition):
                return loaded
            pending.rebuilding = loaded
        return pending.rebuilding.advance() if pending is self._next_rebuilt() else None

    @property
    def _rebuilds_announced(self) -> bool:
        """Tell whether a rebuild goes on that failed before: whatever ends the process would be counted against it."""
        return any(one.rebuilding is not None and one.rebuilding.announced for one in self._claiming.values())

    def _next_rebuilt(self) -> _Pending | None:
        """Return whose rebuild goes on now; one that has to announce itself waits until the one before is committed."""
        first = next((one for one in self._claiming.values() if one.rebuilding is not None), None)
        if first is None or first.rebuilding is None:
            return None
        waits = first.rebuilding.announces and any(one.unproven for one in self.loaded.values())
        return None if waits else first

    def _must_wait(self, pending: _Pending, reached: LoadedPartition) -> bool:
        """Hold a partition back that tries a step again, while another one of this worker does: they take turns.

        A step that kills the process or aborts the transaction is counted against all that are tried at once. A turn
        ends when its step has committed, and after some time, for it may be a timer that is not due for long.
        """
        others = any(one.suspects for one in self.loaded.values()) or self._rebuilds_announced
        if not reached.suspects or not others:
            return False
        if pending.ready is None:
            pending.ready, pending.rebuilding = reached, None
            pending.ready_since_s = self._clock.monotonic_s()
            self._observer.note(ClaimWaits(partition=reached.partition, reason="turn"))
        return self._clock.monotonic_s() - pending.ready_since_s < _TURN_S

    def _want(self, partition: int, *, after_s: float = 0.0) -> None:
        now_s = self._clock.monotonic_s()
        self._claiming[partition] = _Pending(
            self._new_claim(partition), None, since_s=now_s, not_before_s=now_s + after_s
        )

    def _drop(self, partitions: Sequence[int], kind: str) -> None:
        for partition in partitions:
            self._forget(partition)
            self._observer.note(PartitionLetGo(partition=partition))
        self._observer.note(Rebalanced(kind=kind, partitions=partitions))

    def _forget(self, partition: int) -> None:
        self._claiming.pop(partition, None)
        if self._parked.pop(partition, None) is not None:
            self._refusals.pop(partition, None)
        held = self.loaded.pop(partition, None)
        if held is not None:
            held.let_go()
