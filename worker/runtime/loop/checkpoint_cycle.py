"""Decides when to take a checkpoint, of which partitions, and what to do with each partition afterwards.

``checkpoint`` knows the order of writes. After it, a committed partition adopts its staged state. A partition whose
commit is not certain is claimed again. A partition that cannot go on is parked, once it has nothing left to commit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from caesura.worker.errors import ContentRefusedError, OwnFaultError, RetriableError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached, DecodingCounted, SegmentsPublished
from caesura.worker.ports.reasons import CheckpointOutcome, ClaimWaitReason
from caesura.worker.runtime.checkpoint.checkpoint import Checkpoint, Transacted
from caesura.worker.runtime.checkpoint.staged_checkpoint import StagedCheckpoint
from caesura.worker.runtime.loop.assignment import Assignment
from caesura.worker.runtime.loop.gathering import Gathering
from caesura.worker.runtime.loop.own_producer import OwnProducer
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.retries.own_faults import blamed
from caesura.worker.runtime.settings.deadline import Deadline
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

_OFFSETS_AFTER_S = 1.0
_OFFSETS_AFTER = 10
"""Where offsets alone have moved, a checkpoint comes after so long, or so many intervals if that is sooner."""


class CheckpointCycle:
    """One worker's checkpoints, one after another."""

    def __init__(
        self,
        parts: RuntimeAdapters,
        settings: RuntimeSettings,
        *,
        assignment: Assignment,
        faults: Faults,
        producer: OwnProducer,
        gathering: Gathering,
    ) -> None:
        self._clock = parts.clock
        self._observer = parts.observer
        self._interval_s = settings.commit_interval_ms / 1000.0
        self._offsets_after_s = min(_OFFSETS_AFTER_S, _OFFSETS_AFTER * self._interval_s)
        self._assignment = assignment
        self._faults = faults
        self._producer = producer
        self._gathering = gathering
        self._checkpoint = Checkpoint(
            source=parts.source,
            publisher=parts.publisher,
            clock=parts.clock,
            observer=parts.observer,
            timeout_s=settings.commit_timeout_s,
            is_held=lambda one: assignment.is_held(one.partition, one.id.nonce),
        )
        self._staged_since_s: float | None = None
        self._moved_since_s: float | None = None
        self._dropped: set[int] = set()

    @property
    def due(self) -> bool:
        """Tell whether the commit interval since the first uncheckpointed change has passed, labelling included.

        A checkpoint that a partition's next step waits for is due at once. Called once a turn. After labelling,
        ``put_off`` tells whether the checkpoint is worth taking.
        """
        self._let_go()
        if self.is_awaited:
            return True
        if self._staged_since_s is None and any(
            one.changed or one.parked is not None for one in self._assignment.loaded.values()
        ):
            self._staged_since_s = self._clock.monotonic_s()
            if self._moved_since_s is None:
                self._moved_since_s = self._staged_since_s
        return self.due_in_s <= 0

    def put_off(self) -> bool:
        """Put a checkpoint off for a short time if only offsets have moved; tell whether that is so."""
        moved_s = 0.0 if self._moved_since_s is None else self._clock.monotonic_s() - self._moved_since_s
        waits = self.is_awaited or any(one.is_awaited for one in self._assignment.loaded.values())
        if waits or moved_s >= self._offsets_after_s:
            return False
        self._staged_since_s = None
        return True

    @property
    def is_awaited(self) -> bool:
        """Tell whether a partition's next step waits for a checkpoint."""
        return any(one.awaits_checkpoint for one in self._assignment.loaded.values())

    @property
    def due_in_s(self) -> float:
        """Return how long until a checkpoint of the changes that ``due`` saw; infinite without changes."""
        if self._staged_since_s is None:
            return math.inf
        return self._gathering.left_s(self._staged_since_s, self._interval_s)

    @property
    def wanted(self) -> bool:
        """Tell whether a frozen segment waits for its readers."""
        return any(one.sessions.has_segments for one in self._assignment.loaded.values())

    @property
    def work_in_s(self) -> float:
        """Return how long until a checkpoint is due, or waiting words may be labelled."""
        return min(self.due_in_s, self._gathering.pause_left_s) if self._gathering.waiting else self.due_in_s

    def take(self, deadline: Deadline | None = None) -> bool:
        """Take a checkpoint of all that is staged, if anything is. FatalError, FencedError.

        Tell whether all of it surely committed.
        """
        started_s = self._clock.monotonic_s()
        staged = self._stage()
        self._staged_since_s = self._moved_since_s = None
        stage_ms = (self._clock.monotonic_s() - started_s) * 1000.0
        refused = None
        if staged and self._producer.lost is None:  # else whatever is staged is claimed again already
            done = self._checkpoint.take(staged, stage_ms=stage_ms, deadline=deadline)
            refused = done.refused
            self._adopt(staged) if refused is None else self._drop(staged, refused, done)
        self.save()
        self._park()
        return refused is None

    def _stage(self) -> list[StagedCheckpoint]:
        staged = []
        for partition, one in self._assignment.loaded.items():
            try:
                part = blamed(partition, one.stage)
            except OwnFaultError as error:
                self._assignment.raised(error)
                continue
            if part is not None:
                staged.append(part)
        return staged

    def save(self) -> None:
        """Go on with each partition's save, beside the loop."""
        for partition, one in self._assignment.loaded.items():
            if not one.save():
                self._assignment.claim_again(partition, ClaimWaitReason.SAVE_REFUSED)

    def _adopt(self, committed: Sequence[StagedCheckpoint]) -> None:
        for one in committed:
            loaded = self._assignment.loaded[one.partition]
            self._observer.note(DecodingCounted(counts=loaded.counts.drain()))
            self._observer.note(SegmentsPublished(partition=one.partition, segments=one.segments))
            try:
                blamed(one.partition, loaded.adopt, one)
            except RetriableError as error:
                self._assignment.claim_again(one.partition, ClaimWaitReason.of_fault(error))
            except OwnFaultError as error:
                self._assignment.claim_again(one.partition, ClaimWaitReason.OWN_FAULT, detail=str(error))
        self._observer.note(CommitStepReached(step=CommitStep.ADOPTED))
        self._faults.cleared("checkpoint")
        self._dropped.clear()

    def _drop(self, staged: Sequence[StagedCheckpoint], reason: CheckpointOutcome, done: Transacted) -> None:
        """Claim partitions again whose checkpoint may not have committed."""
        partitions = [one.partition for one in staged]
        self._assignment.finish_saves(partitions)
        self._faults.dropped(reason, None if done.error is None else done.error.awaits)
        self._dropped.update(partitions)
        if isinstance(done.error, ContentRefusedError):
            self._assignment.refused(done.error, staged)
        for partition in partitions:
            self._assignment.claim_again(partition, reason)
        if done.publisher_lost is not None:
            self._lose_producer(done.publisher_lost)

    def _let_go(self) -> None:
        """Clear the failed checkpoint's fault if its partitions are now another member's, or parked."""
        if self._dropped and not any(map(self._assignment.holds, self._dropped - self._assignment.parked.keys())):
            self._dropped.clear()
            self._faults.cleared("checkpoint")

    def _park(self) -> None:
        """Park partitions that cannot go on, once their staged changes are committed."""
        for one in self._assignment.loaded.values():
            if one.parked is not None and not one.changed:
                self._assignment.park(one.parked)

    def _lose_producer(self, reason: CheckpointOutcome) -> None:
        self._assignment.finish_saves(list(self._assignment.loaded))
        # The partitions pause, so that no words pile up while there is no producer.
        for partition in self._assignment.loaded:
            self._assignment.claim_again(partition, reason)
        self._producer.lose(reason)
