"""When a checkpoint is taken, of which partitions, and what becomes of each of them afterwards.

``checkpoint`` knows the order of writes; here a committed partition adopts what it staged, one that did
not commit for sure is claimed again, and one that cannot go on is parked once nothing of it is left to commit.
"""

from __future__ import annotations

import math

from caesura.worker.errors import BrokerError, RetriableError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached, DecodingCounted, SegmentsPublished
from caesura.worker.ports.reasons import CheckpointOutcome, ClaimWaitReason
from caesura.worker.runtime.checkpoint.checkpoint import Checkpoint, CheckpointResult
from caesura.worker.runtime.checkpoint.staged_checkpoint import TransactionPart
from caesura.worker.runtime.loop.assignment import Assignment
from caesura.worker.runtime.loop.gathering import Gathering
from caesura.worker.runtime.loop.own_producer import OwnProducer
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.settings.deadline import Deadline
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

__all__ = ["CheckpointCycle"]

_SAVED_WITHIN_S = 0.5
"""How long a partition that is to be claimed again waits for its save: a claim that finds it saved is quick."""


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
        self._dropped: set[int] = set()

    @property
    def due(self) -> bool:
        """Tell whether the commit interval since the first uncheckpointed change has passed, labelling included.

        An announced rebuild waits for none: were its partition revoked before it has committed, it would count as one
        that failed. Asked once a turn.
        """
        self._let_go()
        if self.isolating or any(one.announced for one in self._assignment.loaded.values()):
            return True
        if self._staged_since_s is None and any(
            one.changed or one.parked is not None for one in self._assignment.loaded.values()
        ):
            self._staged_since_s = self._clock.monotonic_s()
        return self.due_in_s <= 0

    @property
    def isolating(self) -> bool:
        """Tell whether a partition tries its records one by one, each with a checkpoint of its own."""
        return any(one.isolating for one in self._assignment.loaded.values())

    @property
    def due_in_s(self) -> float:
        """Return how long until a checkpoint of what had changed when ``due`` was asked; infinite: nothing had."""
        if self._staged_since_s is None:
            return math.inf
        return self._gathering.left_s(self._staged_since_s, self._interval_s)

    def take(self, deadline: Deadline | None = None) -> None:
        """Take a checkpoint over everything that is staged; nothing staged, nothing done. FatalError, FencedError."""
        started_s = self._clock.monotonic_s()
        staged = [part for one in self._assignment.loaded.values() if (part := one.stage()) is not None]
        self._staged_since_s = None
        stage_ms = (self._clock.monotonic_s() - started_s) * 1000.0
        together = [one for one in staged if not one.alone]
        for some in (together, *([one] for one in staged if one.alone)):
            if some and self._producer.lost is None:  # else whatever is staged is claimed again already
                self._adopt(self._checkpoint.take(some, stage_ms=stage_ms, deadline=deadline))
        self.save()
        self._park()

    def save(self) -> None:
        """Go on with the saves of what is committed: each partition's own, beside the loop."""
        for partition, one in self._assignment.loaded.items():
            if not one.save():
                self._assignment.claim_again(partition, ClaimWaitReason.SAVE_REFUSED)

    def announce(self, *parts: TransactionPart, deadline: Deadline | None = None) -> None:
        """Commit how often rebuilds were tried. BrokerError: it did not commit for sure. FatalError, FencedError."""
        if self._producer.lost is not None:
            raise BrokerError(f"how often a rebuild was tried cannot be committed: {self._producer.lost}")
        done = self._checkpoint.announce(parts, deadline)
        if done.publisher_lost is not None:
            self._lose_producer(done.publisher_lost)
        if done.refused is not None:
            partitions = [one.partition for one in parts]
            raise BrokerError(f"tries to rebuild partitions {partitions} could not be committed: {done.refused}")

    def _adopt(self, result: CheckpointResult) -> None:
        for one in result.committed:
            loaded = self._assignment.loaded[one.partition]
            self._observer.note(DecodingCounted(counts=loaded.counts.drain()))
            self._observer.note(SegmentsPublished(partition=one.partition, segments=one.segments))
            try:
                loaded.adopt(one)
            except RetriableError as error:
                self._assignment.claim_again(one.partition, ClaimWaitReason.of_fault(error))
        if result.committed:
            self._observer.note(CommitStepReached(step=CommitStep.ADOPTED))
            self._faults.cleared("checkpoint")
            self._dropped.clear()
        self._assignment.finish_saves(result.dropped, within_s=_SAVED_WITHIN_S)
        for partition, reason in result.dropped.items():
            self._faults.dropped(reason, result.awaits)
            self._dropped.add(partition)
            self._assignment.claim_again(partition, reason)
        if result.publisher_lost is not None:
            self._lose_producer(result.publisher_lost)

    def _let_go(self) -> None:
        """Hold no failed checkpoint against the worker whose partitions are another's, or parked: it may have none."""
        if self._dropped and not any(map(self._assignment.holds, self._dropped - self._assignment.parked.keys())):
            self._dropped.clear()
            self._faults.cleared("checkpoint")

    def _park(self) -> None:
        """Park partitions that cannot go on, once what they had staged is committed."""
        for one in self._assignment.loaded.values():
            if one.parked is not None and not one.changed:
                self._assignment.park(one.parked)

    def _lose_producer(self, reason: CheckpointOutcome) -> None:
        self._assignment.finish_saves(list(self._assignment.loaded), within_s=_SAVED_WITHIN_S)
        # Paused: nothing piles up while there is nobody to publish it. A rebuild that waits for its own transaction was
        # not in the one that failed, whose partitions are claimed again already.
        for partition, one in self._assignment.loaded.items():
            self._assignment.claim_again(partition, reason, untried=one.announced)
        self._producer.lose(reason)
