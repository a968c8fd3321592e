"""A checkpoint: the one place that knows the order of writes over Kafka and Redis (docs/exactly-once.md).

1. stage    apply, label and freeze the polled words in memory, and encode the save from this state. The caller has done
            this (``StagedCheckpoint``).
2. publish  begin the transaction; send segments, routes, dead letters and ledger records.
3. commit   send each partition's next offset with the checkpoint id as metadata; commit. Only the group fences.
4. save     write the committed state to Redis, beside the loop (``saves``).

A failure is either "surely not committed" or "unknown". In both cases the staged copies are dropped and the partitions
are claimed again; the claim reads from Kafka which checkpoint counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from caesura.worker.errors import (
    AbortableError,
    CaesuraError,
    FatalError,
    FencedError,
    RetriableError,
)
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.commit_steps import CheckpointTaken, CommitStep, CommitStepReached
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.reasons import CheckpointOutcome
from caesura.worker.ports.word_source import GroupMembership, WordSource
from caesura.worker.runtime.checkpoint.staged_checkpoint import StagedCheckpoint
from caesura.worker.runtime.settings.deadline import Deadline

_LEAST_S = 1.0
"""A transaction, and the call that ends it, are given so much time at least: too late, they would be in vain."""


class Transacted(NamedTuple):
    """The outcome of a transaction.

    refused: why it may not have committed, so that its partitions must be claimed again; None if it has committed.
    publisher_lost: why the producer must be replaced before the next transaction; None if it need not. error: the
    cause.
    """

    refused: CheckpointOutcome | None = None
    publisher_lost: CheckpointOutcome | None = None
    error: CaesuraError | None = None


class Checkpoint:
    """Takes checkpoints, one after another, for the given partitions.

    is_held: tells whether a partition is still held under the claim that staged it. Brokers accept a member's offset of
    any partition, even of one that moved to another member, and would so set that member's offset back.
    """

    def __init__(
        self,
        *,
        source: WordSource,
        publisher: Publisher,
        clock: Clock,
        observer: Observer,
        timeout_s: float,
        is_held: Callable[[StagedCheckpoint], bool],
    ) -> None:
        self._source = source
        self._is_held = is_held
        self._publisher = publisher
        self._clock = clock
        self._observer = observer
        self._timeout_s = timeout_s

    def take(
        self, staged: Sequence[StagedCheckpoint], *, stage_ms: float = 0.0, deadline: Deadline | None = None
    ) -> Transacted:
        """Take one checkpoint over these partitions; block at most about the time-out, or until a nearer deadline.

        FatalError if an invariant or a setting is broken; all other outcomes are in the result.
        """
        timer = _StepTimer(self._clock)
        timer.step_ms["stage"] = stage_ms
        self._observer.note(CommitStepReached(step=CommitStep.STAGED))
        done = self._transact(staged, timer, deadline)
        self._observer.note(_summary(staged, done.refused, timer.step_ms))
        return done

    def _transact(self, parts: Sequence[StagedCheckpoint], timer: _StepTimer, until: Deadline | None) -> Transacted:
        """Publish and commit."""
        left_s = self._timeout_s if until is None else min(self._timeout_s, max(_LEAST_S, until.left_s))
        deadline = Deadline.after(self._clock, left_s)
        try:
            self._publish(parts)
            timer.lap("publish")
            membership = self._source.membership()
            if not membership.current:
                # Brokers take a commit without generation and member id unfenced.
                raise AbortableError("group membership has no generation")
            self._send_offsets(parts, membership, deadline)
            self._observer.note(CommitStepReached(step=CommitStep.OFFSETS_SENT))
        except FatalError:
            raise
        except CaesuraError as error:
            lost = self._abort(deadline)
            if lost is not None and isinstance(error, FencedError):
                # The group's fence leaves the producer whole; one that cannot even abort was replaced itself.
                lost = CheckpointOutcome.PUBLISHER_FENCED
            timer.lap("abort")
            return Transacted(CheckpointOutcome.of_transaction(error), lost, error)
        failed = self._commit(deadline)
        timer.lap("commit")
        if failed is None:
            self._observer.note(CommitStepReached(step=CommitStep.COMMITTED))
            return Transacted()
        outcome = CheckpointOutcome.of_commit(failed)
        return Transacted(outcome, self._abort(deadline) if isinstance(failed, AbortableError) else outcome, failed)

    def _publish(self, parts: Sequence[StagedCheckpoint]) -> None:
        self._publisher.begin()
        self._observer.note(CommitStepReached(step=CommitStep.BEGUN))
        for one in parts:
            for message in one.messages:
                self._publisher.publish(message)
        self._observer.note(CommitStepReached(step=CommitStep.PUBLISHED))

    def _send_offsets(self, parts: Sequence[StagedCheckpoint], membership: GroupMembership, deadline: Deadline) -> None:
        gone = [one.partition for one in parts if not self._is_held(one)]
        if gone:
            raise FatalError(f"partitions {gone} were let go or claimed again between staging and commit")
        offsets = {one.partition: one.next for one in parts}
        while True:
            try:
                self._publisher.send_offsets(offsets, membership, deadline.left_s)
            except RetriableError:
                if deadline.passed:
                    raise
            else:
                return

    def _commit(self, deadline: Deadline) -> CaesuraError | None:
        """Commit; return None if that is certain, else the reason. Called once: a second call may get its answer."""
        try:
            self._publisher.commit(max(_LEAST_S, deadline.left_s))
        except FatalError:
            raise
        except CaesuraError as error:
            return error
        return None

    def _abort(self, deadline: Deadline) -> CheckpointOutcome | None:
        """Abort; return None if the producer can go on, else why it must be replaced."""
        try:
            self._publisher.abort(max(_LEAST_S, deadline.left_s))
        except FatalError:
            raise
        except CaesuraError as error:
            return CheckpointOutcome.of_abort(error)
        return None


class _StepTimer:
    """Milliseconds by step of one checkpoint."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_s = clock.monotonic_s()
        self.step_ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        now_s = self._clock.monotonic_s()
        self.step_ms[step] = (now_s - self._last_s) * 1000.0
        self._last_s = now_s


def _summary(
    staged: Sequence[StagedCheckpoint], refused: CheckpointOutcome | None, step_ms: dict[str, float]
) -> CheckpointTaken:
    committed = staged if refused is None else ()
    segments = [segment for one in committed for segment in one.segments]
    return CheckpointTaken(
        outcome=CheckpointOutcome.COMMITTED if refused is None else refused,
        partitions=len(staged),
        sessions=sum(sum(data is not None for data in one.snapshots.values()) for one in staged),
        segments=len(segments),
        words=sum(len(segment.words) for segment in segments),
        dead_letters=sum(one.dead_letters for one in committed),
        step_ms=step_ms,
        dropped={} if refused is None else {one.partition: refused for one in staged},
    )
